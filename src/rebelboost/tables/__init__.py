"""Read CSV and Parquet files, detect the types of their columns, and find the target column.

`schema` describes the table that a model was trained on. `schema_reader` reads other tables in the
same way.
"""
