/**
 * Makes, checks and restores a backup in a thread: copies, checksums and the check of the database take seconds of a
 * processor, which no request waits for. The thread ends with the process, and what it had begun is swept at the next start.
 */
import { Worker } from 'node:worker_threads'

export type ThreadTask =
  | {
      readonly kind: 'make'
      readonly data: string
      readonly folder: string
      readonly version: string
      readonly now: number
    }
  | { readonly kind: 'check'; readonly folder: string }
  | { readonly kind: 'restore'; readonly folder: string; readonly target: string }

export type ThreadMessage =
  | { readonly kind: 'progress'; readonly done: number; readonly total: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string }

export interface BackupThread {
  /** undefined when it is done, else why not. Never rejects. */
  readonly ended: Promise<string | undefined>
  /** Ends it; resolves when nothing of it runs any more. */
  cancel(): Promise<void>
}

export function startBackupThread(
  task: ThreadTask,
  progress: (done: number, total: number) => void,
): BackupThread {
  const worker = new Worker(new URL('./backup-thread-program.ts', import.meta.url), { workerData: task })
  const ended = new Promise<string | undefined>((resolve) => {
    worker.on('message', (news: ThreadMessage) => {
      if (news.kind === 'progress') progress(news.done, news.total)
      else resolve(news.kind === 'failed' ? news.message : undefined)
    })
    worker.once('error', (error) => resolve(String(error)))
    worker.once('exit', () => resolve('The thread of the backup ended without a word.'))
  })
  return {
    ended,
    async cancel() {
      await worker.terminate()
    },
  }
}
