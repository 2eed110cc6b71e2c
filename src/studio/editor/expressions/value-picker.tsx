import { Button, Combobox, type FloatingPosition, ScrollArea, useCombobox, useMatches } from '@mantine/core'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { propertiesTexts } from '../../texts/properties.ts'
import { useSearchFocus } from '../properties/use-field-focus.ts'
import classes from './expression-pin.module.css'
import type { ExpressionScope } from './expression-scope.ts'
import { foundValues, type ValueChoice, valueTree } from './value-choices.ts'

interface ValuePickerProps {
  readonly pin: string
  readonly scope: ExpressionScope
  /** The value of the text that was opened, and when: what is chosen takes its place. */
  readonly narrow: { readonly path: string } | undefined
  readonly onPick: (path: string) => void
  readonly onClose: () => void
}

/** Puts a value into a text: a tree of what there is, with what it was the last time. Beside the field, not over it. */
export function ValuePicker({ pin, scope, narrow, onPick, onClose }: ValuePickerProps) {
  const [text, setText] = useState('')
  // Over the canvas; on a phone there is no room beside the field.
  const position = useMatches<FloatingPosition>({ base: 'bottom-start', sm: 'left-start' })
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption()
      setText('')
      onClose()
    },
  })
  const { openDropdown } = combobox
  const search = useSearchFocus(combobox.dropdownOpened)
  // Once for each value that is opened: the library's function is new after each key, and what was typed would be gone.
  const answered = useRef<ValuePickerProps['narrow']>(undefined)
  useEffect(() => {
    if (!narrow || answered.current === narrow) return
    answered.current = narrow
    setText(`${narrow.path}.`)
    openDropdown()
  }, [narrow, openDropdown])
  const { found, turn } = useFoundValues(scope, text.trim())
  const turnByKey = (event: KeyboardEvent) => {
    const one = found[combobox.getSelectedOptionIndex()]
    if (text !== '' || one?.isOpen === undefined) return
    if (event.key !== 'ArrowRight' && event.key !== 'ArrowLeft') return
    event.preventDefault()
    turn(one, event.key === 'ArrowRight')
  }
  return (
    <Combobox
      store={combobox}
      width={320}
      position={position}
      withinPortal
      portalProps={{ target: '#main' }}
      onOptionSubmit={(path) => {
        onPick(path)
        combobox.closeDropdown()
      }}
    >
      <OpenButton pin={pin} onClick={() => combobox.toggleDropdown()} />
      <Combobox.Dropdown>
        <Combobox.Search
          ref={search}
          value={text}
          placeholder={propertiesTexts.searchValues}
          aria-label={propertiesTexts.searchValues}
          onKeyDown={turnByKey}
          onChange={(event) => {
            setText(event.currentTarget.value)
            combobox.updateSelectedOptionIndex()
          }}
        />
        <Found found={found} isTree={text.trim() === ''} onTurn={turn} />
      </Combobox.Dropdown>
    </Combobox>
  )
}

interface OpenButtonProps {
  readonly pin: string
  readonly onClick: () => void
}

function OpenButton({ pin, onClick }: OpenButtonProps) {
  return (
    <Combobox.Target targetType="button">
      <Button
        size="compact-xs"
        variant="default"
        aria-label={propertiesTexts.insertValueInto(pin)}
        onClick={onClick}
      >
        {propertiesTexts.insertValue}
      </Button>
    </Combobox.Target>
  )
}

/** What fits the text; without one a tree, of which the branches open. */
function useFoundValues(scope: ExpressionScope, text: string) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const found = useMemo(
    () => (text === '' ? valueTree(scope, opened) : foundValues(scope, text)),
    [scope, opened, text],
  )
  const turn = ({ path }: ValueChoice, isOpen: boolean) =>
    setOpened((before) => {
      const next = new Set(before)
      if (isOpen) next.add(path)
      else next.delete(path)
      return next
    })
  return { found, turn }
}

interface TreeProps {
  readonly isTree: boolean
  readonly onTurn: (choice: ValueChoice, isOpen: boolean) => void
}

interface FoundProps extends TreeProps {
  readonly found: readonly ValueChoice[]
}

function Found({ found, isTree, onTurn }: FoundProps) {
  const isEmpty = found.length === 0
  return (
    <>
      {isEmpty ? (
        <Combobox.Empty>{isTree ? propertiesTexts.noValues : propertiesTexts.noValueFits}</Combobox.Empty>
      ) : null}
      {/* A list without options is none for a screen reader. */}
      <Combobox.Options aria-label={propertiesTexts.values} hidden={isEmpty}>
        <ScrollArea.Autosize mah={300} type="auto" scrollbars="y">
          {found.map((one) => (
            <Option key={one.path} choice={one} isTree={isTree} onTurn={onTurn} />
          ))}
        </ScrollArea.Autosize>
      </Combobox.Options>
    </>
  )
}

interface OptionProps extends TreeProps {
  readonly choice: ValueChoice
}

function Option({ choice, isTree, onTurn }: OptionProps) {
  const { path, detail, depth, isOpen } = choice
  return (
    <Combobox.Option value={path} title={`${path} · ${detail}`}>
      <span className={classes.choice} style={{ paddingLeft: depth * 14 }}>
        {isTree ? (
          <span
            className={classes.turn}
            aria-hidden="true"
            onClick={(event) => {
              if (isOpen === undefined) return
              event.stopPropagation()
              onTurn(choice, !isOpen)
            }}
          >
            {isOpen === undefined ? '' : isOpen ? '▾' : '▸'}
          </span>
        ) : null}
        <span>{isTree && depth > 0 ? path.slice(path.lastIndexOf('.') + 1) : path}</span>
        <span>{detail}</span>
      </span>
    </Combobox.Option>
  )
}
