import { Button, Checkbox, Popover, ScrollArea, Stack } from '@mantine/core'
import { Icon } from '../../../controls/icon.tsx'
import { fieldsTexts } from '../../../texts/fields.ts'
import type { ShapeField } from './document-shape.ts'

interface ColumnMenuProps {
  readonly fields: readonly ShapeField[]
  readonly columns: readonly string[]
  readonly onChange: (names: readonly string[]) => void
}

/** Which fields are columns. The address remembers it. */
export function ColumnMenu({ fields, columns, onChange }: ColumnMenuProps) {
  const names = [...new Set([...fields.map(({ name }) => name), ...columns, '_meta.guid', '_meta.created'])]
  return (
    <Popover position="bottom-end" trapFocus withArrow>
      <Popover.Target>
        <Button variant="default" leftSection={<Icon name="columns" size={16} />}>
          {fieldsTexts.columns}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <ScrollArea.Autosize mah={360}>
          <Stack gap={8} pr="md">
            {names.map((name) => (
              <Checkbox
                key={name}
                label={name}
                checked={columns.includes(name)}
                onChange={(event) =>
                  onChange(
                    event.currentTarget.checked
                      ? names.filter((one) => one === name || columns.includes(one))
                      : columns.filter((one) => one !== name),
                  )
                }
              />
            ))}
          </Stack>
        </ScrollArea.Autosize>
      </Popover.Dropdown>
    </Popover>
  )
}
