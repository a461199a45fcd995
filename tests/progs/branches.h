/* what the two files of branches share, and each has under the same name */
int other(int x);
int walk(int n);
