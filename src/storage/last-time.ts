/**
 * The time from which a process counts on. The clock may have been set back while no process ran: documents that are created then
 * would sort before those that are there. So times continue from that of the newest document, until the clock has caught up.
 */
/** A document that is further ahead is of a clock that was wrong, and would take all later ones with it. */
const MOST_AHEAD = 86_400_000
/** Less is what clocks of machines differ by: nothing is said of it. */
const WORTH_A_WORD = 60_000

/** `newest`: milliseconds, of any storage. Gives the time that the next document is later than; undefined: any. */
export function lastTime(
  newest: number | undefined,
  now: number,
  notice: (message: string) => void = () => undefined,
): number | undefined {
  if (newest === undefined || newest <= now) return undefined
  const ahead = newest - now
  const behind = `The clock is ${Math.round(ahead / 1000)} seconds behind the newest document, so it was set back, or was ahead before.`
  if (ahead > MOST_AHEAD) {
    notice(
      `${behind} New documents have the time of the clock, and sort before that document. Check the clock.`,
    )
    return undefined
  }
  if (ahead >= WORTH_A_WORD)
    notice(
      `${behind} New documents have times behind that document until the clock has caught up. Check the clock.`,
    )
  return newest
}
