-- Up Migration
comment on table edge.requests is 'Requests that were not answered quickly: noted here before anything of them is decided. Once all of a request is decided, its verdicts say everything that this row does.';
comment on column edge.requests.batch_records is 'How many records each of its batches carries. The ids of the batches follow from that.';
comment on column edge.requests.written is 'How many of its batches, from the first on, Kafka is known to have; null while they are being published.';
