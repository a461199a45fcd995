/*
 * classes: which instructions compute on floating-point values, and which use
 * a vector register for a single one.
 *
 * Zydis has no such classes: its categories put shuffles and arithmetic
 * together, and its types of operands tell the elements of a register, not how
 * many of them are used. But names tell both: Intel's end in the type, "ps" for
 * packed single precision, "sd" for scalar double. So a table has one byte for
 * each mnemonic. Zydis's numbers are in the order of the alphabet, and a range
 * has all that begins alike.
 *
 * Two names are two instructions each: cmpsd and movsd are of strings, too. A
 * conversion of what is in memory (cvttsd2si) may touch no vector register.
 */
#include "isa/x64/x64_int.h"

/* the names from a to b, and one name */
#define FROM(a, b) [ZYDIS_MNEMONIC_##a ... ZYDIS_MNEMONIC_##b]
#define NAME(a) [ZYDIS_MNEMONIC_##a]

/*
 * x87's loads and stores of numbers as they are (fld, fst), its constants, fxch
 * and fcmov are moves; fild, fist and their like convert.
 */
static const bool fp[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
	FROM(ADDPD, ADDSUBPS) = true,
	FROM(CMPPD, CMPPS) = true,
	NAME(CMPSD) = true,
	NAME(CMPSS) = true,
	FROM(COMISD, COMISS) = true,
	FROM(CVTDQ2PD, CVTTSS2SI) = true,
	FROM(DIVPD, DPPS) = true,
	FROM(F2XM1, FCHS) = true, /* fabs fadd fbld fbstp */
	FROM(FCOM, FCOS) = true,
	FROM(FDIV, FDIVRP) = true,
	FROM(FIADD, FIMUL) = true, /* ficom fidiv fild */
	FROM(FIST, FISUBR) = true,
	FROM(FMUL, FMULP) = true,
	FROM(FPATAN, FRNDINT) = true, /* fprem fptan */
	NAME(FSCALE) = true,
	FROM(FSIN, FSQRT) = true,
	FROM(FSUB, FUCOMPP) = true, /* ftst */
	NAME(FXAM) = true,
	FROM(FXTRACT, FYL2XP1) = true,
	FROM(HADDPD, HADDPS) = true,
	FROM(HSUBPD, HSUBPS) = true,
	FROM(MAXPD, MAXSS) = true,
	FROM(MINPD, MINSS) = true,
	FROM(MULPD, MULSS) = true,
	FROM(PF2ID, PFSUBR) = true, /* 3DNow! */
	FROM(PI2FD, PI2FW) = true,
	FROM(RCPPS, RCPSS) = true,
	FROM(ROUNDPD, ROUNDSS) = true,
	FROM(RSQRTPS, RSQRTSS) = true,
	FROM(SQRTPD, SQRTSS) = true,
	FROM(SUBPD, SUBSS) = true,
	NAME(TDPBF16PS) = true,
	FROM(UCOMISD, UCOMISS) = true,
	FROM(V4FMADDPS, V4FNMADDSS) = true,
	FROM(VADDPD, VADDSUBPS) = true,
	FROM(VCMPPD, VCOMISS) = true,
	FROM(VCVTDQ2PD, VCVTW2PH) = true,
	FROM(VDIVPD, VDPPS) = true,
	FROM(VEXP223PS, VEXP2PS) = true,
	FROM(VFCMADDCPH, VFRCZSS) = true, /* fixupimm, multiply-add, fpclass */
	FROM(VGETEXPPD, VGETMANTSS) = true,
	FROM(VHADDPD, VHSUBPS) = true,
	FROM(VMAXPD, VMAXSS) = true,
	FROM(VMINPD, VMINSS) = true,
	FROM(VMULPD, VMULSS) = true,
	FROM(VRANGEPD, VSCALEPS) = true, /* rcp reduce round rsqrt */
	FROM(VSQRTPD, VSQRTSS) = true,
	FROM(VSUBPD, VSUBSS) = true,
	FROM(VUCOMISD, VUCOMISS) = true,
};

/* movd, movq and movw move one number, whatever it means */
static const bool scalar[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
	FROM(ADDSD, ADDSS) = true,
	NAME(CMPSD) = true,
	NAME(CMPSS) = true,
	FROM(COMISD, COMISS) = true,
	FROM(CVTSD2SI, CVTSS2SI) = true,
	FROM(CVTTSD2SI, CVTTSS2SI) = true,
	FROM(DIVSD, DIVSS) = true,
	FROM(MAXSD, MAXSS) = true,
	FROM(MINSD, MINSS) = true,
	NAME(MOVD) = true,
	FROM(MOVNTSD, MOVNTSS) = true,
	NAME(MOVSD) = true,
	NAME(MOVSS) = true,
	FROM(MULSD, MULSS) = true,
	NAME(RCPSS) = true,
	FROM(ROUNDSD, ROUNDSS) = true,
	NAME(RSQRTSS) = true,
	FROM(SQRTSD, SQRTSS) = true,
	FROM(SUBSD, SUBSS) = true,
	FROM(UCOMISD, UCOMISS) = true,
	NAME(V4FMADDSS) = true,
	NAME(V4FNMADDSS) = true,
	FROM(VADDSD, VADDSS) = true,
	FROM(VCMPSD, VCOMISS) = true,
	FROM(VCVTSD2SH, VCVTSS2USI) = true,
	FROM(VCVTTSD2SI, VCVTTSS2USI) = true,
	FROM(VCVTUSI2SD, VCVTUSI2SS) = true,
	FROM(VDIVSD, VDIVSS) = true,
	NAME(VFCMADDCSH) = true,
	NAME(VFCMULCSH) = true,
	FROM(VFIXUPIMMSD, VFIXUPIMMSS) = true,
	FROM(VFMADD132SD, VFMADD132SS) = true,
	FROM(VFMADD213SD, VFMADD213SS) = true,
	FROM(VFMADD231SD, VFMADD231SS) = true,
	NAME(VFMADDCSH) = true,
	FROM(VFMADDSD, VFMADDSS) = true,
	FROM(VFMSUB132SD, VFMSUB132SS) = true,
	FROM(VFMSUB213SD, VFMSUB213SS) = true,
	FROM(VFMSUB231SD, VFMSUB231SS) = true,
	FROM(VFMSUBSD, VFMSUBSS) = true,
	NAME(VFMULCSH) = true,
	FROM(VFNMADD132SD, VFNMADD132SS) = true,
	FROM(VFNMADD213SD, VFNMADD213SS) = true,
	FROM(VFNMADD231SD, VFNMADD231SS) = true,
	FROM(VFNMADDSD, VFNMADDSS) = true,
	FROM(VFNMSUB132SD, VFNMSUB132SS) = true,
	FROM(VFNMSUB213SD, VFNMSUB213SS) = true,
	FROM(VFNMSUB231SD, VFNMSUB231SS) = true,
	FROM(VFNMSUBSD, VFNMSUBSS) = true,
	FROM(VFPCLASSSD, VFPCLASSSS) = true,
	FROM(VFRCZSD, VFRCZSS) = true,
	FROM(VGETEXPSD, VGETEXPSS) = true,
	FROM(VGETMANTSD, VGETMANTSS) = true,
	FROM(VMAXSD, VMAXSS) = true,
	FROM(VMINSD, VMINSS) = true,
	NAME(VMOVD) = true,
	NAME(VMOVQ) = true,
	FROM(VMOVSD, VMOVSH) = true,
	NAME(VMOVSS) = true,
	NAME(VMOVW) = true,
	FROM(VMULSD, VMULSS) = true,
	FROM(VRANGESD, VRANGESS) = true,
	FROM(VRCP14SD, VRCP14SS) = true,
	FROM(VRCP28SD, VRCP28SS) = true,
	FROM(VRCPSH, VRCPSS) = true,
	FROM(VREDUCESD, VREDUCESS) = true,
	FROM(VRNDSCALESD, VRNDSCALESS) = true,
	FROM(VROUNDSD, VROUNDSS) = true,
	FROM(VRSQRT14SD, VRSQRT14SS) = true,
	FROM(VRSQRT28SD, VRSQRT28SS) = true,
	FROM(VRSQRTSH, VRSQRTSS) = true,
	FROM(VSCALEFSD, VSCALEFSS) = true,
	FROM(VSQRTSD, VSQRTSS) = true,
	FROM(VSUBSD, VSUBSS) = true,
	FROM(VUCOMISD, VUCOMISS) = true,
};

/* masks, which have a bit for each element, are vectors, too */
static bool is_packed_register(ZydisRegister reg)
{
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_MMX:
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
	case ZYDIS_REGCLASS_TMM:
	case ZYDIS_REGCLASS_MASK:
		return true;
	default:
		return false;
	}
}

/* whether an operand is a vector register or a mask */
static bool has_vectors(const struct x64_full *full)
{
	for (unsigned i = 0; i < full->in.operand_count; i++)
		if (full->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    is_packed_register(full->op[i].reg.value))
			return true;
	return false;
}

/* whether an operand is a register of this class */
static bool has_class(const struct x64_full *full, ZydisRegisterClass class)
{
	for (unsigned i = 0; i < full->in.operand_count_visible; i++)
		if (full->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(full->op[i].reg.value) == class)
			return true;
	return false;
}

static bool is_packed(const struct x64_full *full)
{
	switch (full->in.mnemonic) {
	case ZYDIS_MNEMONIC_VZEROALL: /* of all registers: none is named */
	case ZYDIS_MNEMONIC_VZEROUPPER:
		return true;
	case ZYDIS_MNEMONIC_MOVQ: /* of MMX, a vector; else one number */
		return !has_class(full, ZYDIS_REGCLASS_XMM) &&
		       !has_class(full, ZYDIS_REGCLASS_GPR64);
	case ZYDIS_MNEMONIC_KMOVB: /* as movd */
	case ZYDIS_MNEMONIC_KMOVD:
	case ZYDIS_MNEMONIC_KMOVQ:
	case ZYDIS_MNEMONIC_KMOVW:
		return !has_class(full, ZYDIS_REGCLASS_GPR64) &&
		       !has_class(full, ZYDIS_REGCLASS_GPR32);
	default:
		return !scalar[full->in.mnemonic] && has_vectors(full);
	}
}

void x64_vector_class(const struct x64_full *full, struct insn *out)
{
	out->fp = fp[full->in.mnemonic] &&
		  full->in.meta.category != ZYDIS_CATEGORY_STRINGOP;
	out->packed = out->vector && is_packed(full);
}
