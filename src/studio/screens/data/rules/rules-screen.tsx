import { Badge, Button, Text } from '@mantine/core'
import type { ValidationRule } from '../../../../shared/api/blueprints/validation-rules.ts'
import { queryClient } from '../../../api/query-client.ts'
import { call, search } from '../../../api/request.ts'
import { RemoveAction } from '../../../controls/actions.tsx'
import { confirm } from '../../../controls/confirm.ts'
import { useOpened } from '../../../controls/hooks.ts'
import { Icon } from '../../../controls/icon.tsx'
import { useListAddress } from '../../../controls/lists/list-address.ts'
import { type Column, NameCell, RecordTable } from '../../../controls/lists/record-table.tsx'
import { openAddress } from '../../../controls/save-file.ts'
import { ScreenHead } from '../../../controls/screen-head.tsx'
import { EmptyState } from '../../../controls/states.tsx'
import { rulesTexts } from '../../../texts/data.ts'
import { RuleDialog } from './rule-dialog.tsx'
import { kindOfRule, parametersInWords } from './rule-kinds.ts'

const columns: readonly Column<ValidationRule>[] = [
  {
    id: 'rule',
    label: rulesTexts.rule,
    sort: 'rule_type',
    render: ({ rule_type, message }) => (
      <NameCell name={kindOfRule(rule_type)?.title ?? rule_type} about={message} />
    ),
  },
  {
    id: 'parameters',
    label: rulesTexts.parameters,
    render: (rule) => <Text size="sm">{parametersInWords(rule)}</Text>,
  },
  {
    id: 'severity',
    label: rulesTexts.violation,
    sort: 'severity',
    width: 150,
    render: ({ severity }) => (
      <Badge color={severity === 'error' ? 'red' : severity === 'warning' ? 'sand' : 'gray'}>
        {severity === 'error'
          ? rulesTexts.refuses
          : severity === 'warning'
            ? rulesTexts.onlyWarns
            : rulesTexts.onlyNotes}
      </Badge>
    ),
  },
  {
    id: 'remove',
    label: '',
    width: 48,
    render: (rule) => <RemoveAction label={rulesTexts.removeTheRule} onClick={() => askToRemove(rule)} />,
  },
]

/** House rules for blueprints, looked at with every deploy. */
export function RulesScreen() {
  const [open, show] = useOpened()
  const [, , words] = useListAddress()
  return (
    <>
      <ScreenHead title={rulesTexts.validationRules} about={rulesTexts.validationRulesAbout}>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => show('new')}>
          {rulesTexts.newRule}
        </Button>
      </ScreenHead>
      <RecordTable<ValidationRule>
        label={rulesTexts.validationRules}
        queryKey={['rules', 'list']}
        load={(body, signal) => search<ValidationRule>('/_system/blueprintvalidation/search', body, signal)}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => openAddress('/data/rules', words, _meta.guid)}
        empty={
          <EmptyState icon="check" title={rulesTexts.noRules}>
            <Text size="sm">{rulesTexts.noRulesText}</Text>
          </EmptyState>
        }
      />
      <RuleDialog guid={open} onClose={() => show('')} />
    </>
  )
}

function askToRemove({ _meta, rule_type }: ValidationRule): void {
  confirm({
    title: rulesTexts.removeThisRule,
    text: rulesTexts.removeThisRuleText(kindOfRule(rule_type)?.title ?? rule_type),
    action: rulesTexts.remove,
    run: async () => {
      await call('DELETE', `/_system/blueprintvalidation/${_meta.guid}`)
      await queryClient.invalidateQueries({ queryKey: ['rules'] })
    },
  })
}
