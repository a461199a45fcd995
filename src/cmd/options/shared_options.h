/*
 * shared_options: options that several commands have, with one meaning. Each
 * table is for a set of a command (options.h), and fills what stands beside it.
 */
#ifndef CMD_OPTIONS_SHARED_OPTIONS_H
#define CMD_OPTIONS_SHARED_OPTIONS_H

#include "cmd/options/options.h"
#include "profile/samples.h"

extern const struct option
	help_option[],         /* fills nothing; every command has it */
	json_option[],         /* bool: answers as report-json.md has them */
	limit_option[],        /* uint64_t: rows */
	same_work_option[],    /* bool: of counts and samples together */
	min_option[],          /* double: a share */
	choose_image_option[], /* const char *: of a procedure */
	quiet_option[],        /* bool: the hottest procedures, not listed */
	rate_option[],         /* uint64_t: samples per second and CPU */
	database_options[];    /* struct samples_query */

/* the set of database_options that fills `field`, a struct samples_query */
#define DATABASE_OPTIONS(call, field)                                          \
	{                                                                      \
		database_options, offsetof(call, field),                       \
			sizeof(struct samples_query), "Options for databases", \
			true                                                   \
	}

/* epochs of a database; fills what a struct samples_query says of them */
extern const struct option_type type_epochs;
extern const struct option_choice epoch_choices[];

#endif
