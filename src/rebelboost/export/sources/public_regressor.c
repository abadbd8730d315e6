/* x holds MODEL_N_FEATURES numbers: codes of categories, and NaN for missing values. */
void model_scores(const double* x, double* scores);
double model_predict(const double* x);
