/* x holds MODEL_N_FEATURES numbers: codes of categories, and NaN for missing values. Costs are
   MODEL_N_CLASSES x MODEL_N_CLASSES, a row for each true class; null: those of the model. */
enum { MODEL_ABSTAINS = -1, MODEL_NO_COSTS = -2 };
void model_scores(const double* x, double* scores);
void model_probabilities(const double* x, double* P);
int model_expected_costs(const double* x, const double* costs, double* risks);
int model_decide(const double* x, const double* costs);
/* The same for n rows, one after the other in x, which takes less time for each. */
void model_scores_many(const double* x, size_t n, double* scores);
void model_probabilities_many(const double* x, size_t n, double* P);
void model_decide_many(const double* x, size_t n, const double* costs, int* decisions);
