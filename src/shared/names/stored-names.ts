// Names of values of the environment: `NAME` of `env.NAME` in expressions.

/** As a JSON schema wants it. */
export const ENVIRONMENT_NAME = '^[A-Za-z][A-Za-z0-9_]{0,62}$'

/** Of one cluster: every node keeps all of them in memory. */
export const MAX_ENVIRONMENT_VALUES = 1_000

/** Of one value, in bytes of its JSON. */
export const MAX_ENVIRONMENT_BYTES = 16 * 1024

// Names of secrets: what a pin of the type `secret` holds.

/** As a JSON schema wants it. */
export const SECRET_NAME = '^[A-Za-z][A-Za-z0-9_]{0,62}$'

/** Of one cluster: every node keeps all of them in memory, encrypted. */
export const MAX_SECRETS = 1_000

/** HTTP connections of one cluster, whose names are written alike: every node keeps all of them in memory. */
export const MAX_CONNECTIONS = 1_000

/** Of one secret, in bytes of UTF-8. A private key of 4,096 bits has 3,300. */
export const MAX_SECRET_BYTES = 16 * 1024

/** A pin with this id holds the name of a secret, and no other pin does: `checkDefinition` holds blocks to it. */
export const SECRET_PIN = /(?:^|_)secret$/
