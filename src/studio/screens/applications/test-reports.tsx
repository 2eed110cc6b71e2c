import { Badge, Button, FileButton, Group, NativeSelect, Stack, Table, Text, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { releasesQuery, testRelease } from '../../api/applications.ts'
import { ErrorNotice } from '../../controls/states.tsx'
import { applicationsTexts } from '../../texts/applications.ts'
import classes from './release-plan.module.css'
import {
  type CaseScore,
  changeOf,
  comparedReports,
  MOST_OF_REPORT,
  percent,
  type ReportedTest,
  readReport,
} from './test-report.ts'

/** Of an evaluation; the report has them all. */
const MOST_CASES = 50

type Report = ReturnType<typeof readReport>

/** Tests of a release, beside what they say of another one; or two reports of `quoin test`. */
export function TestReports({ name, release }: { readonly name: string; readonly release: number }) {
  const [now, setNow] = useState<Report>()
  const [before, setBefore] = useState<Report>()
  const opening = useMutation({
    mutationFn: async ({ file, put }: { readonly file: File; readonly put: (report: Report) => void }) => {
      if (file.size > MOST_OF_REPORT) throw new Error(applicationsTexts.reportTooLarge)
      put(readReport(await file.text()))
    },
  })
  const open = (put: (report: Report) => void) => (file: File | null) => {
    if (file) opening.mutate({ file, put })
  }
  return (
    <section className={`surface ${classes.panel}`} aria-label={applicationsTexts.tests}>
      <Title order={2} size="h4" mb={4}>
        {applicationsTexts.tests}
      </Title>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {applicationsTexts.testsText}
        </Text>
        <RunTests
          name={name}
          release={release}
          onDone={(results, former) => {
            setNow(results)
            setBefore(former)
          }}
        />
        <Group gap="sm">
          <FileButton accept=".json,application/json" onChange={open(setNow)}>
            {(props) => (
              <Button {...props} variant="default" size="compact-sm">
                {applicationsTexts.openReport}
              </Button>
            )}
          </FileButton>
          {now === undefined ? null : (
            <FileButton accept=".json,application/json" onChange={open(setBefore)}>
              {(props) => (
                <Button {...props} variant="default" size="compact-sm">
                  {applicationsTexts.compareReport}
                </Button>
              )}
            </FileButton>
          )}
        </Group>
        <ErrorNotice error={opening.error} title={applicationsTexts.couldNotOpenReport} />
        {now === undefined
          ? null
          : comparedReports(now, before ?? []).map((test) => <Reported key={test.name} test={test} />)}
      </Stack>
    </section>
  )
}

interface RunTestsProps {
  readonly name: string
  readonly release: number
  readonly onDone: (now: Report, before: Report | undefined) => void
}

function RunTests({ name, release, onDone }: RunTestsProps) {
  const { data = [] } = useQuery(releasesQuery(name))
  const [of, setOf] = useState(release)
  const [other, setOther] = useState(release - 1)
  const leaving = useRef(new AbortController())
  useEffect(() => {
    const left = new AbortController()
    leaving.current = left
    return () => left.abort()
  }, [])
  const running = useMutation({
    mutationFn: async () => {
      const { signal } = leaving.current
      const now = await testRelease(name, { number: of, of, signal })
      // Also where the other release cannot be tested.
      onDone(now, undefined)
      if (other > 0 && other !== of) onDone(now, await testRelease(name, { number: other, of, signal }))
    },
  })
  const numbers = data.map(({ number }) => ({
    value: String(number),
    label: applicationsTexts.releaseNumber(number),
  }))
  return (
    <>
      <Group gap="sm" align="end">
        <NativeSelect
          label={applicationsTexts.testsOf}
          data={numbers}
          value={String(of)}
          onChange={(event) => setOf(Number(event.currentTarget.value))}
        />
        <NativeSelect
          label={applicationsTexts.comparedWith}
          data={[{ value: '0', label: applicationsTexts.noOther }, ...numbers]}
          value={String(other)}
          onChange={(event) => setOther(Number(event.currentTarget.value))}
        />
        <Button variant="default" loading={running.isPending} onClick={() => running.mutate()}>
          {applicationsTexts.runTests}
        </Button>
      </Group>
      {running.isPending ? (
        <Text size="xs" c="dimmed" role="status">
          {applicationsTexts.testsRunning}
        </Text>
      ) : null}
      <ErrorNotice error={running.error} title={applicationsTexts.couldNotTest} />
    </>
  )
}

const colours = { worse: 'red', better: 'petrol', same: 'gray' } as const

function Reported({ test }: { readonly test: ReportedTest }) {
  const { name, failures, score, before, cases } = test
  const passed = failures.length === 0
  const head = (
    <>
      {name}{' '}
      <Badge color={passed ? 'petrol' : 'red'}>
        {passed ? applicationsTexts.passed : applicationsTexts.failed}
      </Badge>{' '}
      {score === undefined ? null : <Badge color={colours[changeOf(test)]}>{change(score, before)}</Badge>}
    </>
  )
  // There is nothing to open.
  if (passed && cases.length === 0)
    return (
      <Text component="div" size="sm" className={classes.closed}>
        {head}
      </Text>
    )
  return (
    <Text component="details" size="sm">
      <summary>{head}</summary>
      <Stack gap={6} py={6}>
        {failures.map((failure) => (
          <Text key={failure} size="sm" style={{ overflowWrap: 'anywhere' }}>
            {failure}
          </Text>
        ))}
        {cases.length === 0 ? null : <Cases name={name} cases={cases} />}
      </Stack>
    </Text>
  )
}

function Cases({ name, cases }: { readonly name: string; readonly cases: readonly CaseScore[] }) {
  return (
    <>
      <Table aria-label={applicationsTexts.casesOf(name)}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{applicationsTexts.case}</Table.Th>
            <Table.Th>{applicationsTexts.score}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {cases.slice(0, MOST_CASES).map((one) => (
            <Table.Tr key={one.name}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                {one.name}
                {one.problem === '' ? null : (
                  <Text size="xs" c="dimmed">
                    {one.problem}
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                <Badge color={colours[changeOf(one)]}>{change(one.score, one.before)}</Badge>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {cases.length <= MOST_CASES ? null : (
        <Text size="xs">{applicationsTexts.moreCases(cases.length - MOST_CASES)}</Text>
      )}
    </>
  )
}

function change(score: number, before: number | undefined): string {
  return before === undefined || before === score
    ? percent(score)
    : applicationsTexts.scoreChange(percent(before), percent(score))
}
