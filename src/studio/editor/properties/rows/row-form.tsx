import { ActionIcon, Group, Stack, Tooltip } from '@mantine/core'
import { useState } from 'react'
import type { JsonObject } from '../../../../shared/json.ts'
import type { RowParts } from '../../../../shared/rows/row-part.ts'
import { Icon } from '../../../controls/icon.tsx'
import { propertiesTexts } from '../../../texts/properties.ts'
import { PartInput } from './part-input.tsx'
import classes from './rows.module.css'
import { mainPart, withPart } from './written-rows.ts'

interface RowFormProps {
  readonly row: JsonObject
  /** From 1. */
  readonly number: number
  readonly parts: RowParts
  readonly fields: readonly string[]
  readonly onChange: (row: JsonObject) => void
  readonly onRemove: () => void
  /** Undefined at that end of the list. */
  readonly onUp: (() => void) | undefined
  readonly onDown: (() => void) | undefined
}

/** One row: its main part in a line with what can be done with it, and the other parts folded below. */
export function RowForm({ row, number, parts, fields, onChange, onRemove, onUp, onDown }: RowFormProps) {
  const [open, setOpen] = useState(false)
  const { key } = mainPart(parts)
  const [first, ...others] = Object.entries(parts)
  if (!first) return null
  const name = typeof row[key] === 'string' && row[key] !== '' ? row[key] : propertiesTexts.row(number)
  const set = (part: string) => (value: Parameters<typeof withPart>[2]) =>
    onChange(withPart(row, part, value))
  const actions = [
    ['up', propertiesTexts.moveUp(name), onUp],
    ['down', propertiesTexts.moveDown(name), onDown],
    ['trash', propertiesTexts.removeNamed(name), onRemove],
  ] as const
  return (
    <li className={classes.row}>
      <Group gap={2} wrap="nowrap">
        <div className={classes.main}>
          <PartInput
            name={key}
            part={first[1]}
            value={row[key]}
            hiddenLabel={propertiesTexts.cellInRow(key, number)}
            fields={fields}
            row={name}
            onChange={set(key)}
          />
        </div>
        <Tooltip label={open ? propertiesTexts.less : propertiesTexts.moreAboutIt}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={propertiesTexts.moreAbout(name)}
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            <Icon name="more" size={14} />
          </ActionIcon>
        </Tooltip>
        {actions.map(([icon, label, run]) => (
          <ActionIcon
            key={icon}
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={label}
            disabled={run === undefined}
            onClick={run}
          >
            <Icon name={icon} size={14} />
          </ActionIcon>
        ))}
      </Group>
      {open ? (
        <Stack gap={6} className={classes.parts}>
          {others.map(([part, kind]) => (
            <PartInput
              key={part}
              name={part}
              part={kind}
              value={row[part]}
              fields={fields}
              row={name}
              onChange={set(part)}
            />
          ))}
        </Stack>
      ) : null}
    </li>
  )
}
