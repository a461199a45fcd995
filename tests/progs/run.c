/* run: calls CALL(i) for i from FROM to TO, for programs that are watched. */
int CALL(int);

int main(void)
{
	int n = 0;

	for (int i = FROM; i <= TO; i++)
		n += CALL(i);
	return n == 77;
}
