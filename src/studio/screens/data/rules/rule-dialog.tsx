import { MultiSelect, NumberInput, Select, Textarea, TextInput } from '@mantine/core'
import type { ValidationRule } from '../../../../shared/api/blueprints/validation-rules.ts'
import { queryClient } from '../../../api/query-client.ts'
import { call } from '../../../api/request.ts'
import { saveChanges } from '../../../api/save-changes.ts'
import { useFieldError } from '../../../controls/field-errors.tsx'
import { FormDialog, ReadForm } from '../../../controls/form-dialog.tsx'
import { useDraft } from '../../../controls/hooks.ts'
import { rulesTexts } from '../../../texts/data.ts'
import { kindOfRule, type RuleParameter, ruleKinds } from './rule-kinds.ts'

const path = '/_system/blueprintvalidation'

interface RuleDialogProps {
  /** Of the rule; `new`, or empty for none. */
  readonly guid: string
  readonly onClose: () => void
}

export function RuleDialog({ guid, onClose }: RuleDialogProps) {
  return (
    <ReadForm guid={guid} queryKey={['rules', 'one']} load={readRule} onClose={onClose}>
      {(rule) => <Opened {...(rule && { rule })} onClose={onClose} />}
    </ReadForm>
  )
}

function readRule(guid: string, signal: AbortSignal): Promise<ValidationRule> {
  return call('GET', `${path}/${guid}`, { signal })
}

interface RuleDraft {
  readonly rule_type: string
  readonly parameters: Readonly<Record<string, unknown>>
  readonly message: string
  readonly severity: string
}

const severities = [
  { value: 'error', label: rulesTexts.refuses },
  { value: 'warning', label: rulesTexts.warns },
  { value: 'info', label: rulesTexts.notes },
]

/** Changes the rule, or makes a new one. */
async function saveRule(rule: ValidationRule | undefined, draft: RuleDraft, shown: RuleDraft): Promise<void> {
  const one = `${path}/${rule?._meta.guid}`
  if (rule)
    await saveChanges<ValidationRule>(one, draft, shown, {
      pathOf: ({ _meta }) => `${one}/${_meta.update_hash}`,
    })
  else await call('POST', path, { body: draft })
  await queryClient.invalidateQueries({ queryKey: ['rules'] })
}

function Opened({ rule, onClose }: { readonly rule?: ValidationRule; readonly onClose: () => void }) {
  const { draft, shown, set } = useDraft<RuleDraft>({
    rule_type: rule?.rule_type ?? 'required_scope',
    parameters: rule?.parameters ?? {},
    message: rule?.message ?? '',
    severity: rule?.severity ?? 'error',
  })
  const setParameter = (name: string, value: unknown) => {
    const { [name]: _old, ...rest } = draft.parameters
    set('parameters', value === undefined ? rest : { ...rest, [name]: value })
  }
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={rule ? rulesTexts.validationRule : rulesTexts.newRule}
      action={rule ? rulesTexts.save : rulesTexts.create}
      submit={() => saveRule(rule, draft, shown)}
    >
      <Select
        label={rulesTexts.rule}
        data={ruleKinds.map(({ type, title }) => ({ value: type, label: title }))}
        allowDeselect={false}
        data-autofocus
        value={draft.rule_type}
        onChange={(type) => {
          set('rule_type', type ?? '')
          set('parameters', {})
        }}
      />
      {kindOfRule(draft.rule_type)?.parameters.map((parameter) => (
        <RuleParameterField
          key={parameter.name}
          parameter={parameter}
          value={draft.parameters[parameter.name]}
          onChange={(value) => setParameter(parameter.name, value)}
        />
      ))}
      <Textarea
        label={rulesTexts.message}
        description={rulesTexts.messageHelp}
        autosize
        value={draft.message}
        onChange={(event) => set('message', event.currentTarget.value)}
      />
      <Select
        label={rulesTexts.violation}
        data={severities}
        allowDeselect={false}
        value={draft.severity}
        onChange={(severity) => set('severity', severity ?? 'error')}
      />
    </FormDialog>
  )
}

interface RuleParameterFieldProps {
  readonly parameter: RuleParameter
  readonly value: unknown
  /** undefined: leave it out. */
  readonly onChange: (value: unknown) => void
}

function RuleParameterField({ parameter, value, onChange }: RuleParameterFieldProps) {
  const error = useFieldError()
  const { name, label, help, kind, options = [], required = false } = parameter
  const shared = { label, description: help, required, error: error(`parameters.${name}`) }
  if (kind === 'names')
    return (
      <MultiSelect
        {...shared}
        data={[...options]}
        value={Array.isArray(value) ? value.map(String) : []}
        onChange={(list) => onChange(list.length === 0 ? undefined : list)}
      />
    )
  if (kind === 'choice')
    return (
      <Select
        {...shared}
        data={[...options]}
        clearable={!required}
        value={typeof value === 'string' ? value : null}
        onChange={(one) => onChange(one ?? undefined)}
      />
    )
  if (kind === 'number')
    return (
      <NumberInput
        {...shared}
        min={1}
        allowDecimal={false}
        value={typeof value === 'number' ? value : ''}
        onChange={(one) => onChange(one === '' ? undefined : Number(one))}
      />
    )
  return (
    <TextInput
      {...shared}
      value={typeof value === 'string' ? value : ''}
      onChange={(event) => onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.value)}
    />
  )
}
