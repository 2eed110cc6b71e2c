import { Modal, Text, TextInput } from '@mantine/core'
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react'
import { Icon } from '../../controls/icon.tsx'
import { paletteTexts } from '../../texts/editor.ts'
import { focusDrawingIn } from '../frame/focus-drawing.ts'
import { findBlocks } from '../gestures/find-blocks.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import classes from './block-list.module.css'

/** Finds blocks of this blueprint by title, name, value, expression or setting, and shows the one that is chosen. */
export function FindDialog() {
  const editor = useEditor()
  const text = useEditorState(({ dialog }) => (dialog?.kind === 'find' ? (dialog.text ?? '') : undefined))
  return (
    <Modal
      opened={text !== undefined}
      onClose={() => editor.set({ dialog: undefined })}
      title={
        <Text fw={650} size="sm">
          {paletteTexts.findHere}
        </Text>
      }
      padding={0}
      size={460}
      yOffset="12vh"
      centered={false}
      styles={{ header: { padding: '10px 14px 0' }, body: { height: 380 } }}
    >
      {text === undefined ? null : <Found start={text} />}
    </Modal>
  )
}

/** More are not listed: a longer word finds fewer. */
const MOST = 100

function Found({ start }: { readonly start: string }) {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const [text, setText] = useState(start)
  const [chosen, setChosen] = useState(0)
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const found = useMemo(() => findBlocks(flow, catalogue, text).slice(0, MOST), [flow, catalogue, text])
  const at = Math.min(chosen, found.length - 1)
  const current = found[at]
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is chosen is read from the page
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [at, text])
  const show = (guid: string) => {
    editor.set({ dialog: undefined })
    editor.focusPin(guid, '')
    focusDrawingIn(50)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && found.length > 0) {
      event.preventDefault()
      setChosen((at + step + found.length) % found.length)
    } else if (event.key === 'Enter' && current) {
      event.preventDefault()
      show(current.guid)
    }
  }
  return (
    <div className={classes.whole}>
      <div className={classes.search}>
        <TextInput
          className={classes.field}
          size="xs"
          placeholder={paletteTexts.findExample}
          aria-label={paletteTexts.findBlocks}
          role="combobox"
          aria-expanded={found.length > 0}
          aria-controls={id}
          aria-activedescendant={current ? `${id}-${current.guid}` : undefined}
          leftSection={<Icon name="search" size={14} />}
          value={text}
          data-autofocus
          onChange={(event) => {
            setText(event.currentTarget.value)
            setChosen(0)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      {found.length === 0 ? <p className={classes.none}>{paletteTexts.noneFound}</p> : null}
      <div
        className={classes.list}
        ref={list}
        id={id}
        role="listbox"
        aria-label={paletteTexts.blocksFound}
        tabIndex={-1}
        // A list without options is none for a screen reader.
        hidden={found.length === 0}
      >
        {found.map(({ guid, words, place }) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard is in the search field above
          <div
            key={guid}
            id={`${id}-${guid}`}
            role="option"
            tabIndex={-1}
            aria-selected={guid === current?.guid}
            className={classes.option}
            onClick={() => show(guid)}
          >
            <span className={classes.mark} data-kind={catalogue.get(flow.get(guid)?.type ?? '')?.kind} />
            <span className={classes.words}>
              <span className={classes.title}>{words.title}</span>
              <span className={classes.summary}>{place === '' ? words.kind : place}</span>
            </span>
          </div>
        ))}
      </div>
    </div>
  )
}
