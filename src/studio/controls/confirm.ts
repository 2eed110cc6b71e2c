import { createStore } from 'zustand/vanilla'

export interface Question {
  readonly title: string
  /** What will happen, and whether it can be undone. */
  readonly text: string
  /** The verb on the button. */
  readonly action: string
  /** Nothing is lost by it. */
  readonly isHarmless?: true
  /** Must be typed before it can be done: for what cannot be undone and takes much with it. */
  readonly type?: string
  /** Awaited; while it runs the dialog stays, and what goes wrong is shown in it. */
  readonly run: () => unknown
}

export const question = createStore<{ readonly open: Question | undefined }>(() => ({ open: undefined }))

/** Asks before something is done that hurts, or that should be read first. */
export function confirm(open: Question): void {
  question.setState({ open })
}
