/* small: lives for a fraction of a millisecond. */
int main(void)
{
	volatile int x = 0;

	for (int i = 0; i < 20000; i++)
		x += i;
	return 0;
}
