import { Modal, Text } from '@mantine/core'
import { useMemo, useRef } from 'react'
import type { BlockDescription } from '../../../shared/api/blocks/blocks.ts'
import { paletteTexts } from '../../texts/editor.ts'
import { figureTypes } from '../figures/page-figure.ts'
import { fitsOnWire, wireBehind } from '../gestures/insert-on-wire.ts'
import { fittingBlocks } from '../model/pins/fitting-blocks.ts'
import { nextBlocks } from '../model/pins/next-blocks.ts'
import { wordsOf } from '../model/words/block-labels.ts'
import { nameOf } from '../model/words/block-names.ts'
import { addBlock, addStep } from '../state/editor-commands.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { addOnWire, replaceWith } from '../state/editor-gestures.ts'
import type { Dialog } from '../state/editor-state.ts'
import { BlockList } from './block-list.tsx'
import { addChosen, typeOfChosen } from './found-operations.ts'

type Adding = Extract<Dialog, { kind: 'add' }>

/** Chooses a block to add; at the end of a wire only those that fit, the best first. */
export function AddDialog() {
  const editor = useEditor()
  const dialog = useEditorState((state) => state.dialog)
  const adding = dialog?.kind === 'add' ? dialog : undefined
  const focus = useEditorState((state) => state.focus)
  const before = useRef(focus)
  if (adding) before.current = focus
  return (
    <Modal
      opened={adding !== undefined}
      onClose={() => editor.set({ dialog: undefined })}
      title={adding ? <Title adding={adding} /> : ''}
      padding={0}
      // Not where a field of the new block has the keyboard.
      returnFocus={focus === before.current || focus.pin === ''}
      size={430}
      yOffset="12vh"
      centered={false}
      styles={{ header: { padding: '10px 14px 0' }, body: { height: 420 } }}
    >
      {adding ? <Choice adding={adding} /> : null}
    </Modal>
  )
}

function Title({ adding: { wire, behind, onWire, replace } }: { readonly adding: Adding }) {
  const { drawing, catalogue } = useEditor().store.getState()
  if (onWire || replace !== undefined)
    return (
      <Text size="sm">
        <b>{onWire ? paletteTexts.insertABlock : paletteTexts.replace}</b>{' '}
        {replace === undefined ? '' : wordsOf(drawing.flow, catalogue, replace).title}
      </Text>
    )
  const place = wire?.place ?? behind
  const content = place && drawing.flow.get(place.block)
  if (!place || !content)
    return (
      <Text fw={650} size="sm">
        {paletteTexts.addABlock}
      </Text>
    )
  const from = behind || wire?.side === 'from'
  return (
    <Text size="sm">
      <b>{from ? paletteTexts.nextBlockAfter : paletteTexts.blockThatGives}</b> {nameOf(content, catalogue)} ·{' '}
      {place.pin}
    </Text>
  )
}

function Choice({ adding }: { readonly adding: Adding }) {
  const editor = useEditor()
  const { drawing, catalogue } = editor.store.getState()
  const { wire, behind, at, onWire, replace } = adding
  const fitting = useMemo(
    () => (wire ? fittingBlocks(drawing.flow, catalogue, wire) : undefined),
    [drawing.flow, catalogue, wire],
  )
  const blocks = useMemo(() => {
    if (fitting) return fitting.map(({ description }) => description)
    const all = [...new Set(catalogue.values())]
    if (onWire) return all.filter((block) => fitsOnWire(drawing.flow, catalogue, onWire, block.identifier))
    const old = catalogue.get(drawing.flow.get(replace ?? '')?.type ?? '')
    if (old) return all.filter((block) => block.kind === old.kind && block !== old)
    return behind ? all.filter((block) => block.kind === 'flow') : all
  }, [fitting, drawing.flow, catalogue, behind, onWire, replace])
  const first = useMemo(() => {
    const place = behind ?? (wire?.side === 'from' ? wire.place : undefined)
    const isFlow = place !== undefined && blocks.every(({ kind }) => kind === 'flow')
    return isFlow ? nextBlocks(drawing.flow, catalogue, place).flatMap((one) => catalogue.get(one) ?? []) : []
  }, [drawing.flow, catalogue, behind, wire, blocks])
  const pinOf = (block: BlockDescription) =>
    fitting?.find(({ description }) => description.identifier === typeOfChosen(block.identifier))?.pin ?? ''

  const choose = (block: BlockDescription) => {
    editor.set({ dialog: undefined })
    void addChosen(editor, block.identifier, (type) => {
      const guid = add(block, type)
      if (guid !== undefined && figureTypes.has(type)) editor.set({ dialog: { kind: 'figure', block: guid } })
      return guid
    })
  }
  const add = (block: BlockDescription, identifier: string): string | undefined => {
    if (onWire) return addOnWire(editor, identifier, onWire)
    if (replace !== undefined) {
      replaceWith(editor, replace, identifier)
      return replace
    }
    if (behind) return addStep(editor, identifier, behind)
    if (!wire) return addBlock(editor, identifier, at ?? editor.eye())
    const into = wireBehind(drawing.flow, catalogue, wire, identifier)
    const inserted = into && addOnWire(editor, identifier, into)
    if (inserted !== undefined) return inserted
    const place = at ?? { x: 0, y: 0 }
    const corner = { x: wire.side === 'from' ? place.x : place.x - 250, y: place.y - 58 }
    return addBlock(editor, identifier, corner, { wire, pin: pinOf(block) })
  }
  return (
    <BlockList
      blocks={blocks}
      ordered={wire !== undefined}
      first={first}
      note={(block) => (pinOf(block) === '' ? '' : `· ${pinOf(block)}`)}
      onChoose={choose}
      focus
    />
  )
}
