/** What a run waits for, and how a person ends that by hand. */
import type { Wait } from '../../../../shared/api/waits.ts'

export const kindLabels: Readonly<Record<Wait['kind'], string>> = {
  time: 'Time',
  approval: 'Approval',
  request: 'Webhook',
  document: 'Document',
}

export interface WaitWay {
  /** As the API takes it. */
  readonly way: string
  /** On the button. */
  readonly label: string
  /** What the run does then. */
  readonly text: string
  /** What a person may add. */
  readonly takes?: 'comment' | 'body'
  /** Colour of the button: its default without one. */
  readonly color?: 'red'
}

const timeout: WaitWay = {
  way: 'timeout',
  label: 'Continue at timeout',
  text: 'The run continues now on the way timeout, as if its time were over.',
}

/** Those that a wait can take are in its `ways`. The first one is what is usual. */
export const waysOf: Readonly<Record<Wait['kind'], readonly WaitWay[]>> = {
  time: [{ way: 'flow', label: 'Continue now', text: 'The run continues now instead of at its time.' }],
  approval: [
    { way: 'approved', label: 'Approve', text: 'The run continues on the way approved.', takes: 'comment' },
    {
      ...{ way: 'rejected', label: 'Reject', color: 'red', takes: 'comment' },
      text: 'The run continues on the way rejected.',
    },
    timeout,
  ],
  request: [
    {
      ...{ way: 'received', label: 'Continue as received', takes: 'body' },
      text: 'The run continues on the way received, with this in the pin body. Its address takes no request any more.',
    },
    timeout,
  ],
  document: [
    {
      ...{ way: 'found', label: 'Continue as found' },
      text: 'The run continues on the way found. The pin guid is empty.',
    },
    {
      ...{ way: 'gone', label: 'Continue as gone' },
      text: 'The run continues on the way gone, as if no document fitted any more.',
    },
    timeout,
  ],
}
