/** What took a shorter time to work out is worked out each time: asking whether it still holds would cost as much. */
export const COSTLY_MS = 5
