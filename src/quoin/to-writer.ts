import type { FromReader } from '../workers/worker-messages.ts'
import type { WriterLink } from '../workers/writer-link.ts'

/** The writer, and what a process that only reads tells it. */
export interface ToWriter {
  readonly link: WriterLink
  readonly send: (message: FromReader) => void
  /** Called in place of serving when the writer is gone. */
  readonly orphaned: () => void
}
