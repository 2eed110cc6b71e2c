export const failureEvents = [
  'on_run_failed',
  'on_attempt_failed',
  'on_job_dead',
  'on_schedule_missed',
] as const
export type FailureEvent = (typeof failureEvents)[number]

export function isFailureEvent(text: unknown): text is FailureEvent {
  return failureEvents.some((event) => event === text)
}

/** Something that failed, as a flow is told of it. Empty texts where there is nothing to name. */
export interface Failure {
  readonly event: FailureEvent
  /** Guid of the blueprint. */
  readonly blueprint: string
  /** Guid of the block that failed. */
  readonly block: string
  /** The pin that was at fault. */
  readonly pin: string
  /** Guid of the trigger that started the run. */
  readonly trigger: string
  /** Of the table of errors; MISSED for a schedule. */
  readonly code: string
  /** As the system log has it. */
  readonly message: string
  readonly run: string
  readonly job: string
  /** Milliseconds since 1970. */
  readonly time: number
}

/** A failure, and those of its kind that came before it and were not told. */
export interface ReportedFailure extends Failure {
  /** Name of the blueprint. */
  readonly name: string
  readonly count: number
  /** When the first of them was. */
  readonly since: number
}

/** `dedupe_key` of the dead letter of a request whose run failed behind its reply. */
export function requestKey(run: string): string {
  return `request of ${run}`
}
