/** Milliseconds since 1970. An argument everywhere, so that schedules, expiry and runs can be tested without waiting. */
export type Clock = () => number
