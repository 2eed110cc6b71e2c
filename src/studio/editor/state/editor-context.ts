import { createContext, useContext, useMemo } from 'react'
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

/** What was found in the drawing, without errors about fields that the user has not come to yet. */
export function useChecks(): ShownChecks {
  const checked = useEditorState((state) => state.checked)
  const checkedFlow = useEditorState((state) => state.checkedFlow)
  const fresh = useEditorState((state) => state.fresh)
  const flow = useEditorState(({ drawing }) => drawing.flow)
  return useMemo(() => shownChecks(checked, flow, fresh, checkedFlow), [checked, flow, fresh, checkedFlow])
}
