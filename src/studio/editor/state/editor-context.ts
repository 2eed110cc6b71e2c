import { createContext, useContext, useEffect, useMemo, useReducer, useRef } from 'react'
import { useStore } from 'zustand'
import { editorTexts } from '../../texts/editor.ts'
import { type ShownChecks, shownChecks } from '../model/fresh-blocks.ts'
import type { Editor } from './editor.ts'
import type { EditorState } from './editor-state.ts'

const EditorContext = createContext<Editor | undefined>(undefined)
export const EditorProvider = EditorContext.Provider

export function useEditor(): Editor {
  const editor = useContext(EditorContext)
  if (!editor) throw new Error(editorTexts.outside)
  return editor
}

/** A part of the editor's state; drawn again only when that part changes. */
export function useEditorState<T>(pick: (state: EditorState) => T): T {
  return useStore(useEditor().store, pick)
}

/** What was found in the drawing, without errors about fields that the user has not come to yet. The same while the mouse is pressed. */
export function useChecks(): ShownChecks {
  const checked = useEditorState((state) => state.checked)
  const checkedFlow = useEditorState((state) => state.checkedFlow)
  const fresh = useEditorState((state) => state.fresh)
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const now = useMemo(
    () => shownChecks(checked, flow, fresh, checkedFlow),
    [checked, flow, fresh, checkedFlow],
  )
  const [, showAgain] = useReducer((count: number) => count + 1, 0)
  const shown = useRef(now)
  if (!isPressed) shown.current = now
  useEffect(() => (shown.current === now ? undefined : whenReleased(showAgain)))
  return shown.current
}

/**
 * A message that comes or goes when a field is left would move what is below it from under the mouse, between press and release: the
 * click would be lost.
 */
let isPressed = false
const waiting = new Set<() => void>()

function whenReleased(show: () => void): () => void {
  waiting.add(show)
  return () => void waiting.delete(show)
}

function press(): void {
  isPressed = true
}

function release(): void {
  // Behind the click.
  setTimeout(() => {
    isPressed = false
    for (const show of [...waiting]) show()
  })
}

globalThis.addEventListener?.('pointerdown', press, true)
globalThis.addEventListener?.('pointerup', release, true)
globalThis.addEventListener?.('pointercancel', release, true)
