/**
 * How long ago a lease was renewed, by the clock that has gone further. The monotonic one does not jump when the time of
 * the machine is set, but stands still while the whole machine is suspended; then the other one jumps when it goes on.
 * One that jumps for another reason costs a renewal, which is at most a second away.
 */
export interface LeaseClocks {
  /** Milliseconds that never go back, from any point in time. */
  readonly monotonic: () => number
  /** Milliseconds since 1970, as the machine has them. */
  readonly wall: () => number
}

export interface Instant {
  readonly monotonic: number
  readonly wall: number
}

export function instantOf({ monotonic, wall }: LeaseClocks): Instant {
  return { monotonic: monotonic(), wall: wall() }
}

export function millisecondsSince(instant: Instant, clocks: LeaseClocks): number {
  return Math.max(clocks.monotonic() - instant.monotonic, clocks.wall() - instant.wall)
}
