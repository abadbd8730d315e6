"""CSV and Parquet files: reading them, finding out what their columns mean, and picking the target.

`schema` describes the table that a model was trained on; `schema_reader` reads other tables by it.
"""
