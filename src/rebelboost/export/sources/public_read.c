/* Encodes a row of MODEL_N_COLUMNS cells, in the order of model_columns; a null pointer is a
   missing cell. Returns how many cells count as missing because they could not be read. */
