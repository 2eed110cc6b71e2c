import { Badge, Button, Code, Text } from '@mantine/core'
import type { ValidationRule } from '../../../shared/api/validation-rules.ts'
import { queryClient } from '../../api/query-client.ts'
import { call, search } from '../../api/request.ts'
import { confirm } from '../../controls/confirm.ts'
import { EmptyState } from '../../controls/empty-state.tsx'
import { Icon } from '../../controls/icon.tsx'
import { shortJson } from '../../controls/json/json-text.ts'
import type { Column } from '../../controls/lists/column.ts'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { RecordTable } from '../../controls/lists/record-table.tsx'
import { openAddress } from '../../controls/open-address.ts'
import { RemoveAction } from '../../controls/remove-action.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { useOpened } from '../../controls/use-opened.ts'
import { RuleDialog } from './rule-dialog.tsx'
import { kindOfRule } from './rule-kinds.ts'

const columns: readonly Column<ValidationRule>[] = [
  {
    id: 'rule',
    label: 'Rule',
    sort: 'rule_type',
    render: ({ rule_type, message }) => (
      <>
        {kindOfRule(rule_type)?.title ?? rule_type}
        <Text size="xs" c="dimmed" fw={400}>
          {message}
        </Text>
      </>
    ),
  },
  {
    id: 'parameters',
    label: 'Parameters',
    render: ({ parameters }) => <Code>{shortJson(parameters, 90)}</Code>,
  },
  {
    id: 'severity',
    label: 'Violation',
    sort: 'severity',
    width: 150,
    render: ({ severity }) => (
      <Badge color={severity === 'error' ? 'red' : severity === 'warning' ? 'sand' : 'gray'}>
        {severity === 'error' ? 'refuses the deploy' : severity}
      </Badge>
    ),
  },
  {
    id: 'remove',
    label: '',
    width: 48,
    render: (rule) => <RemoveAction label="Remove the rule" onClick={() => askToRemove(rule)} />,
  },
]

/** House rules for blueprints, looked at with every deploy. */
export function RulesScreen() {
  const [open, show] = useOpened()
  const [, , words] = useListAddress()
  return (
    <>
      <ScreenHead
        title="Validation rules"
        about="Rules that every blueprint is checked against when it is deployed."
      >
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => show('new')}>
          New rule
        </Button>
      </ScreenHead>
      <RecordTable<ValidationRule>
        label="Validation rules"
        queryKey={['rules', 'list']}
        load={(body, signal) => search<ValidationRule>('/_system/blueprintvalidation/search', body, signal)}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => openAddress('/data/rules', words, _meta.guid)}
        empty={
          <EmptyState icon="check" title="No rules">
            <Text size="sm">
              For example: every endpoint that writes needs a scope, or no blueprint has more than 200 blocks.
            </Text>
          </EmptyState>
        }
      />
      <RuleDialog guid={open} onClose={() => show('')} />
    </>
  )
}

function askToRemove({ _meta, rule_type }: ValidationRule): void {
  confirm({
    title: 'Remove this rule?',
    text: `Deploys are no longer checked for “${kindOfRule(rule_type)?.title ?? rule_type}”.`,
    action: 'Remove',
    run: async () => {
      await call('DELETE', `/_system/blueprintvalidation/${_meta.guid}`)
      await queryClient.invalidateQueries({ queryKey: ['rules'] })
    },
  })
}
