import { Button, Fieldset, Group, Stack, Text, Textarea, TextInput, Title } from '@mantine/core'
import type { StorageRecord } from '../../../../shared/api/data/storages.ts'
import { useFieldError } from '../../../controls/field-errors.tsx'
import { dataTexts } from '../../../texts/data.ts'

/** One as it is typed; all of them bind every writer. */
export type ConstraintDraft = Readonly<Record<'rule' | 'message' | 'field', string>>

export function constraintDrafts({ constraints }: StorageRecord): readonly ConstraintDraft[] {
  return constraints.map(({ rule, message, field = '' }) => ({ rule, message, field }))
}

interface ConstraintFieldsProps {
  readonly constraints: readonly ConstraintDraft[]
  readonly onChange: (constraints: readonly ConstraintDraft[]) => void
}

export function ConstraintFields({ constraints, onChange }: ConstraintFieldsProps) {
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
  readonly onChange: (to: Partial<ConstraintDraft>) => void
  readonly onRemove: () => void
}

function ConstraintField({ constraint, at, onChange, onRemove }: ConstraintFieldProps) {
  const error = useFieldError()
  return (
    <Fieldset legend={dataTexts.constraint(at + 1)}>
      <Stack gap="xs">
        <Textarea
          label={dataTexts.constraintRule}
          placeholder={dataTexts.constraintExample}
          autosize
          minRows={1}
          spellCheck={false}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          value={constraint.rule}
          error={error(`constraints.${at}.rule`)}
          onChange={(event) => onChange({ rule: event.currentTarget.value })}
        />
        <TextInput
          label={dataTexts.constraintMessage}
          value={constraint.message}
          error={error(`constraints.${at}.message`)}
          onChange={(event) => onChange({ message: event.currentTarget.value })}
        />
        <TextInput
          label={dataTexts.constraintField}
          value={constraint.field}
          onChange={(event) => onChange({ field: event.currentTarget.value })}
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
