import {
  Autocomplete,
  Input,
  JsonInput,
  NumberInput,
  Select,
  Switch,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { RefObject } from 'react'
import type { Setting } from '../../../shared/api/blocks/blocks.ts'
import { wordsOfField } from '../../../shared/fields/field-names.ts'
import { isJsonObject, type JsonValue } from '../../../shared/json.ts'
import { requestFieldParts } from '../../../shared/request-field.ts'
import { propertiesTexts } from '../../texts/properties.ts'
import { storageNames } from '../api/editor-api.ts'
import { setField } from '../model/changes/flow-changes.ts'
import { useEditor } from '../state/editor-context.ts'
import { LazyInput } from './lazy-input.tsx'
import { RowsOrJson } from './rows/rows-or-json.tsx'
import { useFieldFocus } from './use-field-focus.ts'

interface SettingFieldProps {
  readonly guid: string
  readonly name: string
  readonly setting: Setting
  readonly value: JsonValue | undefined
  readonly problem: string | undefined
}

/** One setting of a block, as its kind asks for. */
export function SettingField({ guid, name, setting, value, problem }: SettingFieldProps) {
  const editor = useEditor()
  const ref = useFieldFocus<HTMLInputElement>(name)
  const { catalogue } = editor.store.getState()
  const set = (next: JsonValue | undefined) =>
    editor.run(
      propertiesTexts.setSetting(name),
      (flow) => setField(flow, catalogue, guid, name, next),
      `set ${guid} ${name}`,
    )
  const label = wordsOfField(name)
  const common = {
    label,
    description: setting.help,
    required: setting.required ?? false,
    withAsterisk: setting.required ?? false,
    size: 'xs',
    error: problem,
    ref,
  } as const
  const fallback = setting.default === undefined ? '' : String(setting.default)
  switch (setting.kind) {
    case 'switch':
      return (
        <Switch
          ref={ref}
          size="xs"
          label={label}
          description={setting.help}
          error={problem}
          checked={value === undefined ? setting.default === true : value === true}
          onChange={(event) => set(event.currentTarget.checked)}
        />
      )
    case 'number':
      return (
        <NumberInput
          {...common}
          placeholder={fallback}
          value={typeof value === 'number' ? value : ''}
          {...(setting.min === undefined ? {} : { min: setting.min })}
          {...(setting.max === undefined ? {} : { max: setting.max })}
          onChange={(next) => set(typeof next === 'number' ? next : undefined)}
        />
      )
    case 'choice':
      return (
        <Select
          {...common}
          placeholder={fallback}
          data={[...(setting.options ?? [])]}
          value={typeof value === 'string' ? value : null}
          onChange={(next) => set(next ?? undefined)}
          clearable
        />
      )
    case 'names':
      return (
        <TagsInput
          {...common}
          placeholder={propertiesTexts.namesExample}
          splitChars={[',', ' ']}
          acceptValueOnBlur
          value={Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []}
          onChange={(names) => set(names.length === 0 ? undefined : names)}
        />
      )
    case 'fields':
      return (
        <Input.Wrapper {...common} component="div">
          <RowsOrJson
            name={name}
            parts={requestFieldParts}
            value={value}
            storage=""
            onChange={set}
            json={<JsonField label={label} value={value} onCommit={set} />}
          />
        </Input.Wrapper>
      )
    case 'operation':
      return (
        <Input.Wrapper {...common} component="div">
          <details open={value === undefined || problem !== undefined}>
            <Text component="summary" size="xs" style={{ overflowWrap: 'anywhere' }}>
              {isJsonObject(value) ? `${value.method} ${value.path}` : propertiesTexts.noOperation}
            </Text>
            <JsonField label={label} value={value} onCommit={set} />
          </details>
        </Input.Wrapper>
      )
    case 'storage':
      return (
        <StorageField
          common={common}
          value={typeof value === 'string' ? value : ''}
          onCommit={(text) => set(text || undefined)}
        />
      )
    default:
      return (
        <LazyInput
          value={typeof value === 'string' ? value : ''}
          onCommit={(text) => set(text === '' ? undefined : text)}
          render={(field) => (
            <TextField {...common} {...field} name={name} lines={setting.lines} placeholder={fallback} />
          )}
        />
      )
  }
}

interface TextFieldProps {
  readonly ref: RefObject<HTMLInputElement | null>
  readonly name: string
  readonly lines: true | undefined
  readonly placeholder: string
}

function TextField({ ref, name, lines, placeholder, ...field }: TextFieldProps) {
  const linesRef = useFieldFocus<HTMLTextAreaElement>(name)
  if (!lines) return <TextInput {...field} ref={ref} placeholder={placeholder} />
  const styles = { input: { fontFamily: 'var(--mantine-font-family-monospace)' } }
  return (
    <Textarea
      {...field}
      ref={linesRef}
      autosize
      minRows={4}
      maxRows={30}
      spellCheck={false}
      styles={styles}
    />
  )
}

interface JsonFieldProps {
  readonly label: string
  readonly value: JsonValue | undefined
  readonly onCommit: (value: JsonValue | undefined) => void
}

function JsonField({ label, value, onCommit }: JsonFieldProps) {
  return (
    <LazyInput
      value={value === undefined ? '' : JSON.stringify(value, undefined, 1)}
      onCommit={(text) => onCommit(text.trim() === '' ? undefined : parsedOrText(text))}
      render={({ onChange, ...field }) => (
        <JsonInput
          {...field}
          aria-label={propertiesTexts.asJson(label)}
          size="xs"
          autosize
          minRows={2}
          maxRows={20}
          placeholder={propertiesTexts.asJsonExample}
          onChange={(text) => onChange({ currentTarget: { value: text } } as Parameters<typeof onChange>[0])}
        />
      )}
    />
  )
}

/** What cannot be read is kept as it was typed, so that the check can say so. */
function parsedOrText(text: string): JsonValue {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

interface StorageFieldProps {
  readonly common: object
  readonly value: string
  readonly onCommit: (text: string) => void
}

/** An existing storage, or a new name: it is made when the blueprint is deployed. */
function StorageField({ common, value, onCommit }: StorageFieldProps) {
  const { data } = useQuery({ queryKey: ['storage-names'], queryFn: ({ signal }) => storageNames(signal) })
  return (
    <LazyInput
      value={value}
      onCommit={onCommit}
      render={({ onChange, ...field }) => (
        <Autocomplete
          {...common}
          {...field}
          data={data ?? []}
          placeholder={propertiesTexts.tasks}
          onChange={(text) => onChange({ currentTarget: { value: text } } as Parameters<typeof onChange>[0])}
          onOptionSubmit={onCommit}
        />
      )}
    />
  )
}
