import { isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import { atElement } from './block-failure.ts'
import type { Frame, Step } from './frame.ts'

type Given = Readonly<Record<string, unknown>>

/**
 * Runs what follows a flow out-pin in the middle of a block, once for each element that the block has. The reply of a pass
 * is durable before the next pass begins, and a run with a long turn pauses between two passes.
 *
 * @param store puts values on the block's out-pins, and has what depends on them pulled again
 */
export function bodyRunner(
  store: (frame: Frame, given: Given) => void,
  next: ReadonlyMap<string, Step | undefined>,
): (frame: Frame, pin: string, element: number, given: Given) => MaybePromise<boolean> {
  return (frame, pin, element, given) => {
    const { run } = frame
    const before = frame.finished
    const { steps } = run
    const { budget } = steps
    steps.tick()
    store(frame, given)

    const over = (): MaybePromise<boolean> => {
      // In a run without a request the passes do not count: its deadline bounds them.
      if (run.request === undefined) steps.refill(budget)
      const goesOn = before || !frame.finished
      const waiting = run.settle() ?? steps.breathe()
      return waiting ? waiting.then(() => goesOn) : goesOn
    }
    const failed = (error: unknown): never => {
      throw atElement(error, element)
    }
    try {
      const driven = steps.drive(next.get(pin), frame)
      return isPromise(driven) ? driven.catch(failed).then(over) : over()
    } catch (error) {
      return failed(error)
    }
  }
}
