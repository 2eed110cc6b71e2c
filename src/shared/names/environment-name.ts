/** Names of values of the environment: `NAME` of `env.NAME` in expressions. */

/** As a JSON schema wants it. */
export const ENVIRONMENT_NAME = '^[A-Za-z][A-Za-z0-9_]{0,62}$'

/** Of one cluster: every node keeps all of them in memory. */
export const MAX_ENVIRONMENT_VALUES = 1_000

/** Of one value, in bytes of its JSON. */
export const MAX_ENVIRONMENT_BYTES = 16 * 1024
