/* x holds MODEL_N_FEATURES numbers: codes of categories, and NaN for missing values. */
void model_scores(const double* x, double* scores);
double model_predict(const double* x);
/* The same for n rows, one after the other in x, which takes less time for each. */
void model_scores_many(const double* x, size_t n, double* scores);
void model_predict_many(const double* x, size_t n, double* predictions);
