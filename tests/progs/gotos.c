/*
 * gotos: several jumps through one table of labels, in code that falls apart
 * into pieces: one of them is understood before the others' labels are known.
 */
int gotos(int);
static volatile int seen;

int gotos(int n)
{
	static const void *const to[] = {&&a, &&b, &&c, &&d};
	int x = n * 5 % 23, from = x, round = 0;

	switch (n % 7) {
	case 0:
		seen++;
		break;
	case 1:
		seen--;
		goto in;
	case 2:
		x++;
		goto in;
	case 3:
		seen = x;
		break;
	case 4:
		return x;
	case 5:
		x += seen;
		goto in;
	case 6:
		return seen;
	}
	x -= n;
in:
	goto *to[(unsigned)(x - from + 9) % 4];
a:
	x += 7;
	if (++round < 4)
		goto *to[(x + round) & 3];
	goto end;
b:
	x += 14;
	if (++round < 4)
		goto *to[(x + round) & 3];
	goto end;
c:
	x += 21;
d:
	x += 28;
	if (++round < 4)
		goto *to[(x + round) & 3];
end:
	return x * 3;
}
