import { type KeptPlace, nothing } from './place.js'

// Where data is, or may be, outside of topics and tables. No declaration knows these places.

export const outsidePlaces: Readonly<Record<string, KeptPlace>> = {
  'backups (`weir backup`)': {
    holds: 'everything of the topics and tables, as it was at that moment',
    form: 'as sent',
    kept: 'until you delete them: Weir deletes none',
    why: 'to restore a system',
  },
  'logs of the services': nothing(
    'methods, routes, statuses and the ids of requests, organisations and keys: no payload, no address with an id in it',
  ),
  'traces, where they are switched on': nothing('the same of some requests'),
  'metrics and dashboards': nothing('counts'),
  'access logs of a proxy before the edge': {
    holds: 'addresses that have ids in them, such as `/v1/persons/{id}/export` and `/v1/data/customers/{id}/journey`',
    form: 'pseudonym',
    kept: 'as long as the proxy keeps its logs',
    why: 'the proxy writes them; Weir needs none',
  },
  'logs of Kafka, Postgres and the registry': {
    holds: 'no values, as they are set up by `npm start` and Compose; servers of your own as you set them up',
    form: 'pseudonym',
    kept: 'as long as the servers keep their logs',
    why: 'to find out what went wrong',
  },
  "ClickHouse's own query log, on a server": {
    holds: 'the texts of queries, with the ids that somebody put into them, and those that Weir was asked for',
    form: 'pseudonym',
    kept: "for good, unless the server's own settings (`query_log`) say otherwise; the embedded ClickHouse is not set up to have one",
    why: 'the server keeps it by itself',
  },
  'receivers of webhooks, readers of feeds and topics': {
    holds: 'what was accepted for the organisation, as far as they took it',
    form: 'personal',
    kept: 'as they decide: a new version or a deletion reaches them, but nothing takes back what they have',
    why: 'the organisation or the operator lets them read it',
  },
  'files of `weir export` and `weir persons export`, and downloads in the console': {
    holds: 'what was asked for; the journal beside a file has only what was asked and how far it came',
    form: 'personal',
    kept: 'until whoever made them deletes them',
    why: 'they were asked for',
  },
  "the uploader's files": {
    holds:
      '`<file>.refused.<format>` has refused records as they were sent; `<file>.weir-journal` has places in the file and hashes alone',
    form: 'as sent',
    kept: 'until whoever uploaded deletes them',
    why: 'to mend refused records, and to go on after a stop',
  },
}
