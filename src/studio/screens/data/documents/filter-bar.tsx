import { Autocomplete, Button, Group, Pill, Popover, Select, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { Icon } from '../../../controls/icon.tsx'
import { dataTexts } from '../../../texts/data.ts'
import { comparisons, type DocumentFilter, filterWord, isComparison, needsValue } from './document-filters.ts'
import type { ShapeField } from './document-shape.ts'

interface FilterBarProps {
  readonly fields: readonly ShapeField[]
  readonly filters: readonly DocumentFilter[]
  readonly onChange: (filters: readonly DocumentFilter[]) => void
  /** The field for which the form of a new filter is open; empty: any. */
  readonly opened?: string | undefined
  readonly onOpen: (field: string | undefined) => void
}

/** The filters of a table, each with a cross, and a button for one more. */
export function FilterBar({ fields, filters, onChange, opened, onOpen }: FilterBarProps) {
  const close = () => onOpen(undefined)
  const open = () => onOpen('')
  return (
    <Group gap={6}>
      {filters.map((filter) => (
        <Pill
          key={filterWord(filter)}
          size="md"
          withRemoveButton
          removeButtonProps={{
            'aria-label': dataTexts.removeTheFilterOn(filter.field),
            'aria-hidden': false,
            tabIndex: 0,
          }}
          onRemove={() => onChange(filters.filter((one) => one !== filter))}
        >
          {filter.field} {comparisons[filter.comparison]} <b>{filter.value}</b>
        </Pill>
      ))}
      <Popover
        opened={opened !== undefined}
        onChange={(yes) => (yes ? open() : close())}
        trapFocus
        withArrow
        position="bottom-start"
      >
        <Popover.Target>
          <Button variant="default" leftSection={<Icon name="filter" size={16} />} onClick={open}>
            {dataTexts.filter}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <NewFilter
            key={opened}
            fields={fields}
            field={opened ?? ''}
            onAdd={(filter) => {
              onChange([...filters, filter])
              close()
            }}
          />
        </Popover.Dropdown>
      </Popover>
    </Group>
  )
}

interface NewFilterProps {
  readonly fields: readonly ShapeField[]
  readonly field: string
  readonly onAdd: (filter: DocumentFilter) => void
}

function NewFilter({ fields, field: first, onAdd }: NewFilterProps) {
  const [filter, setFilter] = useState<DocumentFilter>({ field: first, comparison: 'is', value: '' })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onAdd(needsValue(filter.comparison) ? filter : { ...filter, value: '' })
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="xs" w={240}>
        <Autocomplete
          label={dataTexts.field}
          required
          data-autofocus={first === '' ? true : undefined}
          comboboxProps={{ withinPortal: false }}
          data={[...fields.map(({ name }) => name), '_meta.guid', '_meta.created', '_meta.updated']}
          value={filter.field}
          onChange={(field) => setFilter({ ...filter, field })}
        />
        <Select
          label={dataTexts.compare}
          allowDeselect={false}
          comboboxProps={{ withinPortal: false }}
          data={Object.entries(comparisons).map(([value, label]) => ({ value, label }))}
          value={filter.comparison}
          onChange={(word) => {
            if (word !== null && isComparison(word)) setFilter({ ...filter, comparison: word })
          }}
        />
        {needsValue(filter.comparison) ? (
          <TextInput
            label={dataTexts.value}
            data-autofocus={first === '' ? undefined : true}
            value={filter.value}
            onChange={(event) => setFilter({ ...filter, value: event.currentTarget.value })}
          />
        ) : null}
        <Button type="submit">{dataTexts.addTheFilter}</Button>
      </Stack>
    </form>
  )
}
