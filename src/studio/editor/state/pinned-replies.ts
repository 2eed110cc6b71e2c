/**
 * Recorded replies that are pinned to blocks outside: tries of the blocks on the canvas give them in place of calls. They belong
 * to this browser, as what is tried does, and never to what is deployed.
 */
import type { Editor } from './editor.ts'
import { keepPins, MOST_PINS, type PinnedReplies } from './editor-state.ts'

/** The oldest pin goes where there are too many. */
export function pinReply(editor: Editor, block: string, run: string): void {
  const { pinnedReplies } = editor.store.getState()
  const others = [...pinnedReplies].filter(([one]) => one !== block)
  keep(editor, new Map([...others.slice(-(MOST_PINS - 1)), [block, run]]))
}

export function unpinReply(editor: Editor, block: string): void {
  const { pinnedReplies } = editor.store.getState()
  keep(editor, new Map([...pinnedReplies].filter(([one]) => one !== block)))
}

export function unpinAll(editor: Editor): void {
  keep(editor, new Map())
}

/** Those of blocks that are drawn: a block that was removed needs none. */
export function pinsForTry(editor: Editor): { block: string; run: string }[] {
  const { pinnedReplies, drawing } = editor.store.getState()
  return [...pinnedReplies]
    .filter(([block]) => drawing.flow.has(block))
    .map(([block, run]) => ({ block, run }))
}

function keep(editor: Editor, pinnedReplies: PinnedReplies): void {
  editor.set({ pinnedReplies })
  keepPins(editor.store.getState().guid, pinnedReplies)
}
