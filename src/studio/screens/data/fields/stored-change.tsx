import { Alert, List, Select, Stack, Text, TextInput } from '@mantine/core'
import { useEffect, useRef } from 'react'
import type { CheckedField } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import { fieldsTexts } from '../../../texts/fields.ts'

/** What is stored in place of values that do not fit; undefined while nothing was chosen. */
export interface MisfitChoice {
  readonly way: 'nothing' | 'value' | 'keep' | undefined
  /** JSON, or the name of a field. */
  readonly text: string
}

export const noMisfitChoice: MisfitChoice = { way: undefined, text: '' }

/** What the API takes. */
export function misfitsOf({ way, text }: MisfitChoice) {
  if (way === undefined) return {}
  if (way === 'nothing') return { misfits: {} }
  return { misfits: way === 'keep' ? { keep_in: text.trim() } : { value: typedValue(text) } }
}

/** A text without quotes is one. */
function typedValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

interface StoredChangeProps {
  readonly checked: CheckedField
  /** The new name; undefined where it stays. */
  readonly renamedTo: string | undefined
  readonly choice: MisfitChoice
  readonly choose: (choice: MisfitChoice) => void
}

/** How many documents a change concerns, what does not fit, and what names the field: before the button does it. */
export function StoredChange({ checked, renamedTo, choice, choose }: StoredChangeProps) {
  const { documents, converted, misfits, used_by: uses } = checked
  const named =
    renamedTo === undefined ? [] : uses.filter(({ kind }) => kind === 'blueprint' || kind === 'view')
  const place = useRef<HTMLDivElement>(null)
  // Behind a long form it would not be seen.
  useEffect(() => {
    place.current?.scrollIntoView({ block: 'end' })
  }, [])
  return (
    <Alert ref={place} role="status" title={fieldsTexts.storedDocuments}>
      <Stack gap="xs">
        {renamedTo === undefined ? null : (
          <Text size="sm">{fieldsTexts.valuesMove(documents, renamedTo)}</Text>
        )}
        {converted === 0 ? null : <Text size="sm">{fieldsTexts.valuesConverted(converted)}</Text>}
        {named.length === 0 ? null : (
          <>
            <Text size="sm">{fieldsTexts.namedIn}</Text>
            <List size="sm">
              {named.map(({ guid, name }) => (
                <List.Item key={guid}>{name}</List.Item>
              ))}
            </List>
          </>
        )}
        {misfits.total === 0 ? null : <Misfits misfits={misfits} choice={choice} choose={choose} />}
      </Stack>
    </Alert>
  )
}

interface MisfitsProps extends Pick<StoredChangeProps, 'choice' | 'choose'> {
  readonly misfits: CheckedField['misfits']
}

/** The values that do not fit, and what is stored in their place. */
function Misfits({ misfits, choice, choose }: MisfitsProps) {
  const shown = misfits.documents.slice(0, MOST_SHOWN)
  return (
    <>
      <Text size="sm">{fieldsTexts.valuesMisfit(misfits.total)}</Text>
      <List size="sm">
        {shown.map(({ guid, value, problem }) => (
          <List.Item key={guid}>
            {value === undefined ? guid : JSON.stringify(value)}: {problem}
          </List.Item>
        ))}
        {misfits.total > shown.length ? (
          <List.Item>{fieldsTexts.andMore(misfits.total - shown.length)}</List.Item>
        ) : null}
      </List>
      <Select
        label={fieldsTexts.storeInstead}
        data={[
          { value: 'nothing', label: fieldsTexts.storeNothing },
          { value: 'value', label: fieldsTexts.storeValue },
          { value: 'keep', label: fieldsTexts.storeElsewhere },
        ]}
        required
        value={choice.way ?? null}
        onChange={(way) => choose({ ...choice, way: ways.find((one) => one === way) })}
      />
      {choice.way === 'value' || choice.way === 'keep' ? (
        <TextInput
          label={choice.way === 'keep' ? fieldsTexts.fieldThatKeeps : fieldsTexts.valueInstead}
          required
          value={choice.text}
          onChange={(event) => choose({ ...choice, text: event.currentTarget.value })}
        />
      ) : null}
    </>
  )
}

const MOST_SHOWN = 5
const ways = ['nothing', 'value', 'keep'] as const
