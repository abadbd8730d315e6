"""Read CSV and Parquet files, detect the types of their columns, and find the target column.

`schema` describes the table that a model was trained on, by which other tables are read in the same way.
`schema_inference` finds it, with the help of `type_detection`, `feature_selection`, `grouping` and `leaks`.
"""
