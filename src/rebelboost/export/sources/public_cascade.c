/* Decides most samples by their first terms, as the cascade of the model does; n_terms tells by how
   many. */
int model_decide_early(const double* x, int* n_terms);
