/** Interleavings on all cores: each is one thread's alone, so more threads change nothing but how many there are a minute. */
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Interleavings } from './run-interleavings.ts'

export interface ThreadTask {
  readonly kind: 'writer' | 'nodes'
  readonly seed: number
  /** From one seed of the thread to its next. */
  readonly step: number
  readonly milliseconds: number
  readonly mostFailures: number
}

export async function onAllCores(
  task: Omit<ThreadTask, 'step'>,
  signal: AbortSignal,
  threads = availableParallelism(),
): Promise<Interleavings> {
  const outcomes = await Promise.all(
    Array.from({ length: threads }, (_, place) =>
      onThread({ ...task, seed: task.seed + place, step: threads }, signal),
    ),
  )
  return {
    count: sum(outcomes, ({ count }) => count),
    steps: sum(outcomes, ({ steps }) => steps),
    checked: sum(outcomes, ({ checked }) => checked),
    failures: outcomes.flatMap(({ failures }) => failures),
  }
}

async function onThread(workerData: ThreadTask, signal: AbortSignal): Promise<Interleavings> {
  signal.throwIfAborted()
  const thread = new Worker(new URL('./simulation-thread.ts', import.meta.url), { workerData })
  try {
    const [outcome] = await once(thread, 'message', { signal })
    return outcome
  } finally {
    await thread.terminate()
  }
}

function sum(outcomes: readonly Interleavings[], of: (one: Interleavings) => number): number {
  return outcomes.reduce((total, one) => total + of(one), 0)
}
