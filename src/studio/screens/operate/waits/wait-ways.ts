/** What a run waits for, and how a person ends that by hand. */

import type { Wait } from '../../../../shared/api/operate/waits.ts'
import { waitsTexts } from '../../../texts/alerts.ts'

export const kindLabels: Readonly<Record<Wait['kind'], string>> = {
  time: waitsTexts.time,
  approval: waitsTexts.approval,
  request: waitsTexts.webhook,
  document: waitsTexts.document,
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
  label: waitsTexts.continueAtTimeout,
  text: waitsTexts.continueAtTimeoutText,
}

/** Those that a wait can take are in its `ways`. The first one is what is usual. */
export const waysOf: Readonly<Record<Wait['kind'], readonly WaitWay[]>> = {
  time: [{ way: 'flow', label: waitsTexts.continueNow, text: waitsTexts.continueNowText }],
  approval: [
    { way: 'approved', label: waitsTexts.approve, text: waitsTexts.approveText, takes: 'comment' },
    {
      ...{ way: 'rejected', label: waitsTexts.reject, color: 'red', takes: 'comment' },
      text: waitsTexts.rejectText,
    },
    timeout,
  ],
  request: [
    {
      ...{ way: 'received', label: waitsTexts.continueAsReceived, takes: 'body' },
      text: waitsTexts.receivedText,
    },
    timeout,
  ],
  document: [
    {
      ...{ way: 'found', label: waitsTexts.continueAsFound },
      text: waitsTexts.foundText,
    },
    {
      ...{ way: 'gone', label: waitsTexts.continueAsGone },
      text: waitsTexts.goneText,
    },
    timeout,
  ],
}
