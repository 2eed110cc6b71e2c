import { Autocomplete, Button, Fieldset, Group, Stack, Text, Textarea, TextInput, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { FieldRecord } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import type { StorageRecord } from '../../../../shared/api/data/storages.ts'
import { fieldsQuery, sharedFieldsQuery } from '../../../api/storages.ts'
import { useFieldError } from '../../../controls/field-errors.tsx'
import { dataTexts } from '../../../texts/data.ts'
import type { unknownFields } from './unknown-fields.ts'

/** One as it is typed; all of them bind every writer. */
export type ConstraintDraft = Readonly<Record<'rule' | 'message' | 'field', string>>

export function constraintDrafts({ constraints }: StorageRecord): readonly ConstraintDraft[] {
  return constraints.map(({ rule, message, field = '' }) => ({ rule, message, field }))
}

interface ConstraintFieldsProps {
  readonly storage: string
  readonly constraints: readonly ConstraintDraft[]
  readonly onChange: (constraints: readonly ConstraintDraft[]) => void
}

export function ConstraintFields({ storage, constraints, onChange }: ConstraintFieldsProps) {
  const { data: fields = [] } = useQuery(fieldsQuery(storage))
  return (
    <Stack gap="sm">
      <Title order={3} size="h5">
        {dataTexts.constraints}
      </Title>
      <Text size="sm" c="dimmed">
        {dataTexts.constraintsAbout}
      </Text>
      {constraints.map((one, at) => (
        <ConstraintField
          // biome-ignore lint/suspicious/noArrayIndexKey: a constraint has no name, and its texts change while they are typed.
          key={at}
          constraint={one}
          at={at}
          storage={storage}
          fields={namesOf(fields)}
          onChange={(to) => onChange(constraints.with(at, { ...one, ...to }))}
          onRemove={() => onChange(constraints.filter((_one, index) => index !== at))}
        />
      ))}
      <Group>
        <Button
          size="xs"
          variant="default"
          onClick={() => onChange([...constraints, { rule: '', message: '', field: '' }])}
        >
          {dataTexts.addConstraint}
        </Button>
      </Group>
    </Stack>
  )
}

interface ConstraintFieldProps {
  readonly constraint: ConstraintDraft
  readonly at: number
  readonly storage: string
  /** Names to choose from; a document may have others. */
  readonly fields: readonly string[]
  readonly onChange: (to: Partial<ConstraintDraft>) => void
  readonly onRemove: () => void
}

function ConstraintField({ constraint, at, storage, fields, onChange, onRemove }: ConstraintFieldProps) {
  const error = useFieldError()
  return (
    <Fieldset legend={dataTexts.constraint(at + 1)}>
      <Stack gap="xs">
        <Textarea
          label={dataTexts.constraintRule}
          required
          withAsterisk={false}
          placeholder={dataTexts.constraintExample}
          autosize
          minRows={1}
          // A new one is typed at once; a stored one has a condition.
          autoFocus={constraint.rule === ''}
          spellCheck={false}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          value={constraint.rule}
          error={error(`constraints.${at}.rule`)}
          onChange={(event) => onChange({ rule: event.currentTarget.value })}
        />
        <UnknownFields rule={constraint.rule} storage={storage} />
        <TextInput
          label={dataTexts.constraintMessage}
          required
          withAsterisk={false}
          value={constraint.message}
          error={error(`constraints.${at}.message`)}
          onChange={(event) => onChange({ message: event.currentTarget.value })}
        />
        <Autocomplete
          label={dataTexts.constraintField}
          data={[...new Set(fields)]}
          value={constraint.field}
          onChange={(field) => onChange({ field })}
        />
        <Group justify="flex-end">
          <Button size="xs" variant="default" onClick={onRemove}>
            {dataTexts.removeConstraint(at + 1)}
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  )
}

interface UnknownFieldsProps {
  readonly rule: string
  readonly storage: string
}

/** A warning and no error: a document may have fields that the storage does not list. */
export function UnknownFields({ rule, storage }: UnknownFieldsProps) {
  const { data: own } = useQuery(fieldsQuery(storage))
  const { data: shared } = useQuery(sharedFieldsQuery)
  const [found, setFound] = useState<ReturnType<typeof unknownFields>>([])
  useEffect(() => {
    let isLatest = true
    // The parser of expressions is loaded with the first rule, and not with the list of storages.
    void import('./unknown-fields.ts').then((reader) => {
      if (isLatest && own && shared) setFound(reader.unknownFields(rule, namesOf(own), namesOf(shared)))
    })
    return () => {
      isLatest = false
    }
  }, [rule, own, shared])
  return found.map(({ name, meant }) => (
    <Text key={name} size="xs" role="status" c="light-dark(#87581f, #dcb475)">
      {dataTexts.unknownField(name, meant)}
    </Text>
  ))
}

function namesOf(fields: readonly FieldRecord[]): readonly string[] {
  return fields.map(({ name }) => name)
}
