import { Menu, Portal } from '@mantine/core'
import type { Edge } from '@xyflow/react'
import { type MouseEvent, useCallback, useState } from 'react'
import { Icon } from '../../controls/icon.tsx'
import { canvasTexts } from '../../texts/canvas.ts'
import { FoldMenuItems } from '../folds/fold-menu.tsx'
import { focusDrawing } from '../frame/focus-drawing.ts'
import type { Wire } from '../model/flow.ts'
import { addNote, layOut, pasteBlocks, removeSelected } from '../state/editor-commands.ts'
import { useEditor } from '../state/editor-context.ts'
import type { Point } from '../state/editor-state.ts'
import { BlockMenuItems } from './block-menu.tsx'
import classes from './canvas.module.css'
import { wireOfEdge } from './canvas-wires.ts'

/** What the menu is about. */
type Subject =
  | { readonly kind: 'block'; readonly block: string }
  | { readonly kind: 'frame'; readonly note: string }
  | { readonly kind: 'wire'; readonly wire: Wire }
  | { readonly kind: 'canvas' }

interface OpenMenu {
  readonly subject: Subject
  readonly x: number
  readonly y: number
}

/** The menu of a block, a frame, a wire or the canvas, by the right button of the mouse or the menu key. */
export function useCanvasMenu() {
  const editor = useEditor()
  const [at, setAt] = useState<OpenMenu>()
  const onBlock = useCallback(
    (event: MouseEvent, { id }: { readonly id: string }) => {
      const { drawing, selection } = editor.store.getState()
      const note = drawing.notes.find((one) => id === `note:${one.id}` && one.kind === 'group')
      if (!note && !drawing.flow.has(id)) return
      event.preventDefault()
      // The menu key has no place: then it opens at the block's corner.
      const box = event.currentTarget.getBoundingClientRect()
      const isKey = event.clientX === 0 && event.clientY === 0
      const x = isKey ? box.left + 20 : event.clientX
      const y = isKey ? box.top + 20 : event.clientY
      if (!selection.has(id)) editor.select([id])
      setAt({ subject: note ? { kind: 'frame', note: note.id } : { kind: 'block', block: id }, x, y })
    },
    [editor],
  )
  const onWire = useCallback(
    (event: MouseEvent, edge: Edge) => {
      event.preventDefault()
      const wire = wireOfEdge(edge.id, editor.store.getState().drawing.flow)
      if (!wire) return
      editor.select([], [edge.id])
      setAt({ subject: { kind: 'wire', wire }, x: event.clientX, y: event.clientY })
    },
    [editor],
  )
  const onCanvas = useCallback((event: globalThis.MouseEvent | MouseEvent) => {
    event.preventDefault()
    setAt({ subject: { kind: 'canvas' }, x: event.clientX, y: event.clientY })
  }, [])
  return { at, onBlock, onWire, onCanvas, close: () => setAt(undefined) }
}

interface CanvasMenuProps {
  readonly menu: ReturnType<typeof useCanvasMenu>
  readonly placeOf: (screen: Point) => Point
  readonly onArranged: () => void
}

export function CanvasMenu({ menu: { at, close }, placeOf, onArranged }: CanvasMenuProps) {
  if (!at) return null
  const { subject, x, y } = at
  return (
    <Portal>
      <div style={{ position: 'fixed', left: x, top: y }}>
        <Menu opened onClose={close} onExitTransitionEnd={focusDrawing} position="bottom-start" width={230}>
          <Menu.Target>
            <button type="button" className={classes.menuPlace} tabIndex={-1} aria-label={canvasTexts.menu} />
          </Menu.Target>
          <Menu.Dropdown>
            {subject.kind === 'block' ? (
              <BlockMenuItems block={subject.block} />
            ) : subject.kind === 'frame' ? (
              <FoldMenuItems note={subject.note} />
            ) : subject.kind === 'wire' ? (
              <WireMenuItems wire={subject.wire} />
            ) : (
              <CanvasMenuItems place={placeOf({ x, y })} onArranged={onArranged} />
            )}
          </Menu.Dropdown>
        </Menu>
      </div>
    </Portal>
  )
}

function WireMenuItems({ wire }: { readonly wire: Wire }) {
  const editor = useEditor()
  return (
    <>
      <Menu.Item
        leftSection={<Icon name="plus" size={15} />}
        onClick={() => editor.set({ dialog: { kind: 'add', onWire: wire } })}
      >
        {canvasTexts.insertABlock}
      </Menu.Item>
      <Menu.Item
        leftSection={<Icon name="arrow" size={15} />}
        onClick={() => editor.focusPin(wire.to.block, '')}
      >
        {canvasTexts.goToItsEnd}
      </Menu.Item>
      <Menu.Item leftSection={<Icon name="trash" size={15} />} onClick={() => removeSelected(editor)}>
        {canvasTexts.remove}
      </Menu.Item>
    </>
  )
}

function CanvasMenuItems({ place, onArranged }: { readonly place: Point; readonly onArranged: () => void }) {
  const editor = useEditor()
  return (
    <>
      <Menu.Item
        leftSection={<Icon name="plus" size={15} />}
        rightSection="A"
        onClick={() => editor.set({ dialog: { kind: 'add', at: place } })}
      >
        {canvasTexts.addABlock}
      </Menu.Item>
      <Menu.Item
        leftSection={<Icon name="copy" size={15} />}
        rightSection={canvasTexts.ctrlV}
        onClick={() => void pasteBlocks(editor, place)}
      >
        {canvasTexts.paste}
      </Menu.Item>
      <Menu.Item
        leftSection={<Icon name="edit" size={15} />}
        rightSection="N"
        onClick={() => addNote(editor, place)}
      >
        {canvasTexts.addARemark}
      </Menu.Item>
      <Menu.Divider />
      <Menu.Item
        leftSection={<Icon name="search" size={15} />}
        rightSection={canvasTexts.ctrlF}
        onClick={() => editor.set({ dialog: { kind: 'find' } })}
      >
        {canvasTexts.find}
      </Menu.Item>
      <Menu.Item
        leftSection={<Icon name="columns" size={15} />}
        rightSection="L"
        onClick={() => {
          layOut(editor)
          setTimeout(onArranged, 50)
        }}
      >
        {canvasTexts.arrangeBlocks}
      </Menu.Item>
    </>
  )
}
