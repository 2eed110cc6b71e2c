import { Button, Combobox, ScrollArea, useCombobox } from '@mantine/core'
import { useEffect, useMemo, useState } from 'react'
import { propertiesTexts } from '../../texts/properties.ts'
import { focusDrawingIn } from '../frame/focus-drawing.ts'
import { wireSources } from '../model/pins/wire-sources.ts'
import { PinMark } from '../pins/pin-mark.tsx'
import { drawWire } from '../state/editor-commands.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { useSearchFocus } from './use-field-focus.ts'

/** Draws a wire without a mouse: a list of the pins that fit, to search in. */
export function SourcePicker({ guid, pin }: { readonly guid: string; readonly pin: string }) {
  const editor = useEditor()
  const [text, setText] = useState('')
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption()
      combobox.focusTarget()
      setText('')
    },
  })
  const search = useSearchFocus(combobox.dropdownOpened)
  return (
    <Combobox
      store={combobox}
      width={280}
      position="bottom-end"
      withinPortal
      portalProps={{ target: '#main' }}
      onOptionSubmit={(option) => {
        combobox.closeDropdown()
        if (option === 'new') {
          editor.set({ dialog: { kind: 'add', wire: { side: 'to', place: { block: guid, pin } } } })
          return
        }
        const [block = '', ...out] = option.split('|')
        // The button that opened the list may be gone with the wire.
        focusDrawingIn(30)
        drawWire(editor, { from: { block, pin: out.join('|') }, to: { block: guid, pin } })
      }}
    >
      <Combobox.Target targetType="button">
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          aria-label={propertiesTexts.wirePin(pin)}
          data-wire={pin}
          onClick={() => combobox.toggleDropdown()}
        >
          {propertiesTexts.wire}
        </Button>
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Search
          ref={search}
          value={text}
          placeholder={propertiesTexts.searchBlocksPinsExample}
          aria-label={propertiesTexts.searchBlocksPinsExample}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        {combobox.dropdownOpened ? (
          <Options guid={guid} pin={pin} text={text} onShown={combobox.selectFirstOption} />
        ) : null}
      </Combobox.Dropdown>
    </Combobox>
  )
}

interface OptionsProps {
  readonly guid: string
  readonly pin: string
  readonly text: string
  readonly onShown: () => unknown
}

function Options({ guid, pin, text, onShown }: OptionsProps) {
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const all = useMemo(() => wireSources(flow, catalogue, { block: guid, pin }), [flow, catalogue, guid, pin])
  const words = text.toLowerCase().split(/\s+/)
  const found = all.filter(({ name, kind, place, type }) => {
    const line = `${name} ${kind} ${place.pin} ${type}`.toLowerCase()
    return words.every((word) => line.includes(word))
  })
  // Enter takes the first one, whatever was typed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: again for each text
  useEffect(() => void onShown(), [text])
  return (
    <Combobox.Options aria-label={propertiesTexts.pinsThatFit}>
      <ScrollArea.Autosize mah={260} type="auto" scrollbars="y">
        {found.map(({ place, name, kind, type }) => (
          <Combobox.Option key={`${place.block}|${place.pin}`} value={`${place.block}|${place.pin}`}>
            <span style={{ display: 'flex', alignItems: 'center', gap: 8, fontSize: 13 }}>
              <PinMark type={type} size={11} />
              <span
                title={kind}
                style={{
                  flex: 1,
                  minWidth: 0,
                  overflow: 'hidden',
                  textOverflow: 'ellipsis',
                  whiteSpace: 'nowrap',
                }}
              >
                {name} · {place.pin}
              </span>
              <span style={{ fontSize: 11, color: 'var(--mantine-color-dimmed)' }}>{type}</span>
            </span>
          </Combobox.Option>
        ))}
        <Combobox.Option value="new">
          <span style={{ fontSize: 13 }}>{propertiesTexts.newBlock}</span>
        </Combobox.Option>
      </ScrollArea.Autosize>
    </Combobox.Options>
  )
}
