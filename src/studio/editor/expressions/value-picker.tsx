import { Button, Combobox, ScrollArea, useCombobox } from '@mantine/core'
import { useMemo, useState } from 'react'
import { propertiesTexts } from '../../texts/properties.ts'
import classes from './expression-pin.module.css'
import type { ExpressionScope } from './expression-scope.ts'
import { valueChoices } from './value-choices.ts'

interface ValuePickerProps {
  readonly pin: string
  readonly scope: ExpressionScope
  readonly onPick: (path: string) => void
}

/** Puts a value into a text: a list of what there is, with what it was the last time. */
export function ValuePicker({ pin, scope, onPick }: ValuePickerProps) {
  const [text, setText] = useState('')
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption()
      setText('')
    },
    onDropdownOpen: () => combobox.focusSearchInput(),
  })
  const all = useMemo(() => valueChoices(scope), [scope])
  const words = text.toLowerCase().split(/\s+/)
  const found = all.filter(({ path, detail }) => {
    const line = `${path} ${detail}`.toLowerCase()
    return words.every((word) => line.includes(word))
  })
  return (
    <Combobox
      store={combobox}
      width={300}
      position="bottom-start"
      withinPortal
      portalProps={{ target: '#main' }}
      onOptionSubmit={(path) => {
        combobox.closeDropdown()
        onPick(path)
      }}
    >
      <Combobox.Target targetType="button">
        <Button
          size="compact-xs"
          variant="default"
          aria-label={propertiesTexts.insertAValueInto(pin)}
          onClick={() => combobox.toggleDropdown()}
        >
          {propertiesTexts.insertValue}
        </Button>
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Search
          value={text}
          placeholder={propertiesTexts.searchValues}
          aria-label={propertiesTexts.searchValues}
          onChange={(event) => {
            setText(event.currentTarget.value)
            combobox.updateSelectedOptionIndex()
          }}
        />
        <Combobox.Options aria-label={propertiesTexts.values}>
          <ScrollArea.Autosize mah={260} type="auto" scrollbars="y">
            {found.map(({ path, detail }) => (
              <Combobox.Option key={path} value={path}>
                <span className={classes.choice}>
                  <span>{path}</span>
                  <span>{detail}</span>
                </span>
              </Combobox.Option>
            ))}
            {found.length === 0 ? <Combobox.Empty>{propertiesTexts.noValues}</Combobox.Empty> : null}
          </ScrollArea.Autosize>
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}
