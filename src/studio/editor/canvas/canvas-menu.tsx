import { Menu, Portal } from '@mantine/core'
import type { Edge } from '@xyflow/react'
import { type MouseEvent, useCallback, useState } from 'react'
import { RESOURCE_TYPE } from '../../../shared/resource/resource.ts'
import { Icon } from '../../controls/icon.tsx'
import { canvasTexts } from '../../texts/canvas.ts'
import { FoldMenuItems, LaneFoldItem } from '../folds/fold-menu.tsx'
import { focusDrawing } from '../frame/focus-drawing.ts'
import type { Wire } from '../model/flow.ts'
import { PinReplyItem } from '../runs/pin-reply.tsx'
import { useBreakpoints } from '../runs/use-breakpoints.ts'
import {
  addNote,
  copySelected,
  drawResource,
  duplicateSelected,
  layOut,
  pasteBlocks,
  removeSelected,
} from '../state/editor-commands.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { chooseStorageInBlocks, goToFunction, leadsOf, showCalls } from '../state/editor-gestures.ts'
import type { Point } from '../state/editor-state.ts'
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

/** What the menu of a block offers. */
function BlockMenuItems({ block }: { readonly block: string }) {
  const editor = useEditor()
  const breakpoints = useBreakpoints()
  const type = useEditorState(({ drawing }) => drawing.flow.get(block)?.type) ?? ''
  const catalogue = useEditorState((state) => state.catalogue)
  return (
    <>
      {catalogue.get(type)?.kind === 'flow' ? (
        <>
          <Menu.Item
            leftSection={<Icon name="pause" size={15} />}
            rightSection="B"
            onClick={() => breakpoints.toggle(block)}
          >
            {breakpoints.at.has(block) ? canvasTexts.removeBreakpoint : canvasTexts.pauseRunsHere}
          </Menu.Item>
          <Menu.Divider />
        </>
      ) : null}
      <PinReplyItem block={block} />
      <Menu.Item leftSection={<Icon name="edit" size={15} />} onClick={() => editor.focusPin(block, '')}>
        {canvasTexts.properties}
      </Menu.Item>
      <LeadItems block={block} />
      <Menu.Item leftSection={<Icon name="copy" size={15} />} onClick={() => void copySelected(editor)}>
        {canvasTexts.copy}
      </Menu.Item>
      <Menu.Item leftSection={<Icon name="plus" size={15} />} onClick={() => duplicateSelected(editor)}>
        {canvasTexts.duplicate}
      </Menu.Item>
      <Menu.Item
        leftSection={<Icon name="refresh" size={15} />}
        onClick={() => editor.set({ dialog: { kind: 'add', replace: block } })}
      >
        {canvasTexts.replaceWith}
      </Menu.Item>
      {catalogue.get(type)?.kind === 'trigger' ? null : (
        <Menu.Item
          leftSection={<Icon name="blueprint" size={15} />}
          onClick={() => editor.set({ dialog: { kind: 'extract' } })}
        >
          {canvasTexts.extractToAFunction}
        </Menu.Item>
      )}
      <LaneFoldItem block={block} />
      {type === RESOURCE_TYPE ? (
        <Menu.Item
          leftSection={<Icon name="blueprint" size={15} />}
          onClick={() => void drawResource(editor, block)}
        >
          {canvasTexts.asBlocks}
        </Menu.Item>
      ) : null}
      <Menu.Item leftSection={<Icon name="trash" size={15} />} onClick={() => removeSelected(editor)}>
        {canvasTexts.remove}
      </Menu.Item>
    </>
  )
}

/** To the function that it calls, to the calls of the function that it is, and its storage into the blocks that use it. */
function LeadItems({ block }: { readonly block: string }) {
  const editor = useEditor()
  const { called, own, storage } = leadsOf(editor, block)
  return (
    <>
      {called === undefined ? null : (
        <Menu.Item leftSection={<Icon name="arrow" size={15} />} onClick={() => goToFunction(editor, called)}>
          {canvasTexts.goTo(called)}
        </Menu.Item>
      )}
      {called === undefined ? null : (
        <Menu.Item leftSection={<Icon name="search" size={15} />} onClick={() => showCalls(editor, called)}>
          {canvasTexts.findCallsOf(called)}
        </Menu.Item>
      )}
      {own === undefined ? null : (
        <Menu.Item leftSection={<Icon name="search" size={15} />} onClick={() => showCalls(editor, own)}>
          {canvasTexts.findItsCalls}
        </Menu.Item>
      )}
      {storage === undefined ? null : (
        <Menu.Item
          leftSection={<Icon name="data" size={15} />}
          onClick={() => chooseStorageInBlocks(editor, block)}
        >
          {canvasTexts.chooseInItsBlocks(storage)}
        </Menu.Item>
      )}
    </>
  )
}
