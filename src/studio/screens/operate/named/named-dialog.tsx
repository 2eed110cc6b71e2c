import { Text, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { NamedRecord, NamedRecords } from '../../../api/named-records.ts'
import { FormDialog } from '../../../controls/form-dialog.tsx'
import { Time } from '../../../controls/time.tsx'
import { namedTexts } from '../../../texts/settings.ts'
import type { NamedDialogProps } from './named-screen.tsx'

interface LoadedProps<R extends NamedRecord> extends Pick<NamedDialogProps, 'guid'> {
  readonly records: NamedRecords<R>
  readonly form: (record: R | undefined) => ReactNode
}

/** The form of a new record, or of one that is read first. Its draft begins again when the record has changed. */
export function NamedDialog<R extends NamedRecord>({ guid, records, form }: LoadedProps<R>) {
  const isNew = guid === 'new'
  const { data } = useQuery({
    queryKey: [records.key, 'one', guid],
    queryFn: ({ signal }) => records.read(guid, signal),
    enabled: guid !== '' && !isNew,
  })
  if (isNew) return form(undefined)
  return data && guid !== '' ? form(data) : null
}

interface NamedDraft {
  readonly name: string
  readonly description: string
}

interface NamedFormProps {
  readonly record: NamedRecord | undefined
  /** Of a new one. */
  readonly title: string
  /** Below the field for the name. */
  readonly nameHelp: string
  readonly draft: NamedDraft
  readonly onDraft: (name: 'name' | 'description', value: string) => void
  readonly submit: () => Promise<unknown>
  readonly onClose: () => void
  /** The other fields. */
  readonly children: ReactNode
}

export function NamedForm({
  record,
  title,
  nameHelp,
  draft,
  onDraft,
  submit,
  onClose,
  children,
}: NamedFormProps) {
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={record ? record.name : title}
      action={record ? namedTexts.save : namedTexts.create}
      submit={submit}
    >
      {record ? (
        <Text size="sm" c="dimmed">
          {namedTexts.changed} <Time at={record._meta.updated} /> {namedTexts.by(record.modified_by.username)}
        </Text>
      ) : (
        <TextInput
          label={namedTexts.name}
          description={nameHelp}
          required
          data-autofocus
          value={draft.name}
          onChange={(event) => onDraft('name', event.currentTarget.value)}
        />
      )}
      {children}
      <Textarea
        label={namedTexts.description}
        autosize
        value={draft.description}
        onChange={(event) => onDraft('description', event.currentTarget.value)}
      />
    </FormDialog>
  )
}
