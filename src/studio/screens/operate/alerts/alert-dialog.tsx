import { Checkbox, NumberInput, Select, TagsInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type AlertFigure, alertFigures } from '../../../../shared/alerts/alert-figures.ts'
import type { AlertRecord } from '../../../../shared/api/operate/alerts.ts'
import { namesOf } from '../../../api/named-records.ts'
import { alerts, secrets, settingsQuery } from '../../../api/operate.ts'
import { useDraft } from '../../../controls/hooks.ts'
import { alertsTexts } from '../../../texts/alerts.ts'
import { NamedDialog, NamedForm } from '../named/named-dialog.tsx'
import type { NamedDialogProps } from '../named/named-screen.tsx'

export function AlertDialog({ guid, onClose }: NamedDialogProps) {
  return (
    <NamedDialog
      guid={guid}
      onClose={onClose}
      records={alerts}
      form={(record) => <Opened record={record} onClose={onClose} />}
    />
  )
}

interface OpenedProps {
  readonly record: AlertRecord | undefined
  readonly onClose: () => void
}

interface Draft {
  readonly name: string
  readonly description: string
  readonly figure: AlertFigure
  readonly threshold: number
  readonly minutes: number
  readonly mail: string[]
  readonly webhook: string
  readonly secret: string
  readonly active: boolean
}

function Opened({ record, onClose }: OpenedProps) {
  const form = useDraft<Draft>(draftOf(record))
  const { draft, set } = form
  const { data: known = [] } = useQuery(secrets.all)
  const { data: settings } = useQuery({ ...settingsQuery, retry: false })
  const lacksMail = settings?.some(({ name, source }) => name === 'QUOIN_MAIL_URL' && source === 'default')
  const { unit } = figureWords[draft.figure]
  return (
    <NamedForm
      record={record}
      title={alertsTexts.newAlert}
      nameHelp={alertsTexts.newAlertNameHelp}
      draft={draft}
      onDraft={set}
      submit={() => alerts.save(record, form, { draftOf, fieldsOf })}
      onClose={onClose}
    >
      <Select
        label={alertsTexts.figure}
        data={figureChoices}
        allowDeselect={false}
        value={draft.figure}
        onChange={(value) => {
          const figure = alertFigures.find((one) => one === value) ?? draft.figure
          set('figure', figure)
          set('threshold', figureWords[figure].usual)
        }}
      />
      <NumberInput
        label={alertsTexts.threshold(unit)}
        description={
          draft.figure === 'disk_free' ? alertsTexts.thresholdBelowHelp : alertsTexts.thresholdAboveHelp
        }
        required
        min={0}
        value={draft.threshold}
        onChange={(value) => set('threshold', Number(value))}
      />
      {draft.figure === 'error_share' ? (
        <NumberInput
          label={alertsTexts.minutes}
          description={alertsTexts.minutesHelp}
          min={1}
          max={60}
          allowDecimal={false}
          value={draft.minutes}
          onChange={(value) => set('minutes', Number(value))}
        />
      ) : null}
      <TagsInput
        label={alertsTexts.mailTo}
        description={alertsTexts.mailToHelp(lacksMail !== true)}
        maxTags={10}
        value={draft.mail}
        onChange={(value) => set('mail', value)}
      />
      <TextInput
        label={alertsTexts.webhook}
        description={alertsTexts.webhookHelp}
        placeholder="https://"
        value={draft.webhook}
        onChange={(event) => set('webhook', event.currentTarget.value)}
      />
      <Select
        label={alertsTexts.secretSignsWebhook}
        data={namesOf(known)}
        clearable
        placeholder={alertsTexts.noSignature}
        value={draft.secret || null}
        onChange={(value) => set('secret', value ?? '')}
      />
      <Checkbox
        label={alertsTexts.checkedEachMinute}
        checked={draft.active}
        onChange={(event) => set('active', event.currentTarget.checked)}
      />
    </NamedForm>
  )
}

function fieldsOf({ name: _name, mail, ...fields }: Draft) {
  return { ...fields, mail: [...mail] }
}

function draftOf(record: AlertRecord | undefined): Draft {
  return {
    name: '',
    description: record?.description ?? '',
    figure: record?.figure ?? 'dead_letters',
    threshold: record?.threshold ?? 1,
    minutes: record?.minutes ?? 5,
    mail: [...(record?.mail ?? [])],
    webhook: record?.webhook ?? '',
    secret: record?.secret ?? '',
    active: record?.active ?? true,
  }
}

interface FigureWords {
  readonly label: string
  /** Of the threshold. */
  readonly unit: string
  readonly usual: number
  /** Where its cause is found; undefined where no run is to blame. */
  readonly cause: { readonly label: string; readonly address: string } | undefined
}

export const figureWords: Readonly<Record<AlertFigure, FigureWords>> = {
  error_share: {
    label: alertsTexts.shareOfFailedRequests,
    unit: '%',
    usual: 5,
    cause: { label: alertsTexts.run, address: '/operate/runs/failed' },
  },
  dead_letters: {
    label: alertsTexts.deadLetters,
    unit: alertsTexts.deadLettersLabel,
    usual: 1,
    cause: { label: alertsTexts.jobs, address: '/operate/queues?status=dead' },
  },
  queue_age: {
    label: alertsTexts.oldestWait,
    unit: alertsTexts.s,
    usual: 300,
    cause: { label: alertsTexts.jobs, address: '/operate/queues?status=waiting' },
  },
  disk_free: { label: alertsTexts.freeDisk, unit: alertsTexts.mib, usual: 2_000, cause: undefined },
}

const figureChoices = alertFigures.map((value) => ({ value, label: figureWords[value].label }))

/** `5 % or more in 5 minutes`. */
export function conditionLabels(figure: AlertFigure, threshold: number, minutes: number): string {
  const side = figure === 'disk_free' ? alertsTexts.orLess : alertsTexts.orMore
  const time = figure === 'error_share' ? alertsTexts.inMin(minutes) : ''
  return `${threshold.toLocaleString()} ${figureWords[figure].unit} ${side}${time}`
}
