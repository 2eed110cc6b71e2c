import { useEffect } from 'react'
import { useSearch } from 'wouter'
import { useEditor } from '../state/editor-context.ts'

const panels = ['try', 'runs', 'properties'] as const

/**
 * The address says what is shown: `?view=outline&block=<guid>&panel=try`, and `?panel=runs&run=<guid>&step=3`. It can be
 * linked to; going through blocks and steps leaves no trail in the history of the browser.
 */
export function useAddress(): void {
  const editor = useEditor()
  useEffect(() => {
    const given = new URLSearchParams(location.search)
    const block = given.get('block')
    const run = given.get('run') ?? ''
    const step = Math.trunc(Number(given.get('step')))
    editor.set({
      view: given.get('view') === 'outline' ? 'outline' : 'canvas',
      panel: panels.find((one) => one === given.get('panel')) ?? (run === '' ? 'properties' : 'runs'),
      shownRun: run === '' ? undefined : { guid: run, at: step > 0 ? step - 1 : undefined },
    })
    if (block !== null && editor.store.getState().drawing.flow.has(block)) {
      if (given.has('panel') || run !== '') editor.select([block])
      else editor.focusPin(block, '')
    }
    return editor.store.subscribe(({ view, panel, selection, shownRun, drawing }, before) => {
      const isSame = view === before.view && panel === before.panel && shownRun === before.shownRun
      if (isSame && selection === before.selection) return
      const words = new URLSearchParams(location.search)
      const [only] = selection
      put(words, 'view', view === 'outline' ? view : '')
      put(words, 'panel', panel === 'properties' ? '' : panel)
      put(words, 'run', shownRun?.guid ?? '')
      put(words, 'step', shownRun?.at === undefined ? '' : String(shownRun.at + 1))
      put(words, 'block', selection.size === 1 && only !== undefined && drawing.flow.has(only) ? only : '')
      const search = words.size > 0 ? `?${words}` : ''
      if (search !== location.search) history.replaceState(history.state, '', `${location.pathname}${search}`)
    })
  }, [editor])
  const search = useSearch()
  // A link to another block of this blueprint. What is selected here is written into the address before this runs.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address may have changed since it was rendered
  useEffect(() => {
    const block = new URLSearchParams(location.search).get('block')
    const { drawing, selection } = editor.store.getState()
    if (block !== null && !selection.has(block) && drawing.flow.has(block)) editor.focusPin(block, '')
  }, [editor, search])
}

function put(words: URLSearchParams, name: string, value: string): void {
  if (value === '') words.delete(name)
  else words.set(name, value)
}
