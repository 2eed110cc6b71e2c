import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { canConvert } from '../../../shared/pin-type.ts'
import { notifyFailed } from '../../controls/notify.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { outlineTexts } from '../../texts/editor.ts'
import { disconnect, setLiteral } from '../model/changes/flow-changes.ts'
import { inPinOf } from '../model/flow.ts'
import { moveStepDown, moveStepUp } from '../model/flow-steps.ts'
import type { OutlineItem, shownItems } from '../model/outline.ts'
import { pinsOf } from '../model/pins/pins.ts'
import type { Editor } from '../state/editor.ts'
import { removeSelected } from '../state/editor-commands.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import type { Dialog } from '../state/editor-state.ts'

type Rows = ReturnType<typeof shownItems>

interface NodeContext {
  readonly rows: Rows
  readonly open: ReadonlySet<string>
  readonly toggle: (id: string) => void
}

const MOMENT_MS = 40

/** The keys of the outline, and which row has the keyboard. */
export function useOutlineKeys({ rows, open, toggle }: NodeContext) {
  const editor = useEditor()
  const tree = useRef<HTMLDivElement>(null)
  const [requested, setRequested] = useState('')
  const lastAt = useRef(0)
  // Where the row is gone, the one that stands in its place has the keyboard.
  const found = rows.findIndex(({ item }) => item.id === requested)
  const at = found >= 0 ? found : Math.min(lastAt.current, rows.length - 1)
  lastAt.current = Math.max(0, at)
  const row = rows[at]
  const current = row?.item.id ?? ''

  const hadFocus = useRef(false)
  const isDialogOpen = useEditorState(({ dialog }) => dialog !== undefined)
  useEffect(() => {
    if (isDialogOpen) return
    // A dialog gives the keyboard back a moment after it is gone.
    const timer = setTimeout(() => {
      const element = tree.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(current)}"]`)
      const active = document.activeElement
      // No element, or one that contains the outline: then no field elsewhere loses it.
      const isHere = tree.current?.contains(active) || active?.contains(tree.current) === true
      if (element && element !== active && hadFocus.current && isHere) element.focus()
    }, MOMENT_MS)
    return () => clearTimeout(timer)
  }, [current, isDialogOpen])

  const go = (id: string) => {
    setRequested(id)
    hadFocus.current = true
    tree.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`)?.focus()
  }
  const goTo = (index: number) => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, index))]
    if (!next) return
    go(next.item.id)
    if (next.item.block !== '') editor.select([next.item.block])
  }

  // A block that was just added is where the keyboard goes.
  const [only] = useEditorState(({ selection }) => selection)
  const before = useRef<string>(undefined)
  useEffect(() => {
    if (only === undefined || only === before.current) return
    before.current = only
    hadFocus.current = true
    if (row?.item.block === only) return
    const match = rows.find(({ item }) => item.kind === 'block' && item.block === only)
    if (match) setRequested(match.item.id)
  })

  const onKeyDown = (event: KeyboardEvent) => {
    hadFocus.current = true
    if (!row || event.defaultPrevented) return
    const { item, level } = row
    const isOpen = open.has(item.id) && item.children.length > 0
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const action = ((): (() => void) | undefined => {
      switch (event.key) {
        case 'ArrowDown':
          return () => goTo(at + 1)
        case 'ArrowUp':
          return () => goTo(at - 1)
        case 'Home':
          return () => goTo(0)
        case 'End':
          return () => goTo(rows.length - 1)
        case 'ArrowRight':
          return item.children.length === 0 ? undefined : () => (isOpen ? goTo(at + 1) : toggle(item.id))
        case 'ArrowLeft':
          return () =>
            isOpen
              ? toggle(item.id)
              : goTo(rows.findLastIndex((one, index) => index < at && one.level < level))
        case 'Enter':
          return () => edit(editor, item)
        case ' ':
          return () => (item.block === '' ? undefined : editor.select([item.block]))
        default:
          return undefined
      }
    })()
    if (!action) return
    event.preventDefault()
    action()
  }

  const group = outlineTexts.outline
  useShortcut({ keys: 'a', label: outlineTexts.keyAdd, group }, () => add(editor, row?.item))
  useShortcut({ keys: 'w', label: outlineTexts.keyWire, group }, () => wire(editor, row?.item))
  useShortcut({ keys: 'delete', label: outlineTexts.keyRemove, group }, () => remove(editor, row?.item))
  useShortcut(
    { keys: 'alt+arrowup', label: outlineTexts.keyUp, group },
    () => row && move(editor, row.item, 'up'),
  )
  useShortcut(
    { keys: 'alt+arrowdown', label: outlineTexts.keyDown, group },
    () => row && move(editor, row.item, 'down'),
  )
  return { current, tree, onKeyDown, go }
}

/** Puts the keyboard into the field of the pin, or into the first field of the block. */
function edit(editor: Editor, item: OutlineItem): void {
  if (item.block === '') return
  const { drawing, catalogue } = editor.store.getState()
  const content = drawing.flow.get(item.block)
  if (!content) return
  const pins = [...pinsOf(content, catalogue).in].filter(([, { type }]) => canConvert('any', type))
  const first = (pins.find(([, { required }]) => required) ?? pins[0])?.[0]
  const setting = Object.keys(catalogue.get(content.type)?.settings ?? {})[0]
  editor.focusPin(item.block, item.pin || (first ?? setting ?? ''))
}

/** Behind a step or branch: a step. At a pin: what could give its value. Elsewhere: any block. */
function add(editor: Editor, item: OutlineItem | undefined): void {
  const { drawing, catalogue } = editor.store.getState()
  const content = item && drawing.flow.get(item.block)
  const ask = (dialog: Dialog) => editor.set({ dialog })
  if (!item || !content) {
    ask({ kind: 'add' })
    return
  }
  const place = { block: item.block, pin: item.pin }
  if (item.kind === 'pin') {
    ask({ kind: 'add', wire: { side: 'to', place } })
    return
  }
  if (item.kind === 'branch') {
    ask({ kind: 'add', behind: place })
    return
  }
  const goesOn = pinsOf(content, catalogue).out.has('flow')
  const out = [...pinsOf(content, catalogue).out].find(([, { type }]) => type === 'flow')?.[0]
  if (!goesOn && out === undefined) {
    ask({ kind: 'add' })
    return
  }
  editor.set({
    dialog: { kind: 'add', behind: { block: item.block, pin: goesOn ? 'flow' : (out ?? 'flow') } },
  })
}

/** Opens the list of sources of the pin in the panel beside. */
function wire(editor: Editor, item: OutlineItem | undefined): void {
  if (!item || item.block === '') return
  const pin = item.kind === 'pin' ? item.pin : 'flow'
  editor.focusPin(item.block, pin)
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>(`[data-wire="${CSS.escape(pin)}"]`)?.click(),
  )
}

function remove(editor: Editor, item: OutlineItem | undefined): void {
  if (!item || item.block === '') return
  if (item.kind !== 'pin') {
    if (item.kind !== 'block') return
    editor.select([item.block])
    removeSelected(editor)
    return
  }
  const { block, pin } = item
  editor.run(outlineTexts.empty(pin), (flow) => {
    const ends = inPinOf(flow.get(block), pin)?.from ?? []
    let next = flow
    for (const from of ends) next = disconnect(next, { from, to: { block, pin } })
    return ends.length > 0 ? next : setLiteral(flow, block, pin, undefined)
  })
}

function move(editor: Editor, item: OutlineItem, where: 'up' | 'down'): void {
  const { drawing } = editor.store.getState()
  const moved = (where === 'up' ? moveStepUp : moveStepDown)(drawing.flow, item.block)
  if (moved) editor.run(outlineTexts.moveStep(where), () => moved)
  else notifyFailed(outlineTexts.cannotMove, new Error(outlineTexts.cannotMoveText))
}
