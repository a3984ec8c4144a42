/** Where Kafka and the schema registry are. */
export type ConsumerAddresses = { brokers: string; registry: string }
/** A program that reads a topic from its beginning and prints each event, to copy. */
export type Consumers = { typescript: string; python: string; java: string }

/** Where `npm start` runs them. */
export const localAddresses: ConsumerAddresses = {
  brokers: '127.0.0.1:9092',
  registry: 'http://127.0.0.1:8081/apis/ccompat/v7',
}

/** `event` is the type of the topic's events in weir-client/events. */
export const consumersOf = (given: {
  topic: string
  event: string
  group?: string
  addresses?: ConsumerAddresses
}): Consumers => {
  const wanted = { group: 'my-team', addresses: localAddresses, ...given }
  return { typescript: typescript(wanted), python: python(wanted), java: java(wanted) }
}

type Wanted = { topic: string; event: string; group: string; addresses: ConsumerAddresses }

const typescript = ({ topic, event, group, addresses }: Wanted): string => `\
// npm install kafkajs @kafkajs/confluent-schema-registry
import { SchemaRegistry } from '@kafkajs/confluent-schema-registry'
import { Kafka, logLevel } from 'kafkajs'
import type { ${event} } from 'weir-client/events'

const registry = new SchemaRegistry({ host: '${addresses.registry}' })
const kafka = new Kafka({ brokers: [${quotedList(addresses.brokers)}], logLevel: logLevel.ERROR })
const consumer = kafka.consumer({ groupId: '${group}' })
process.once('SIGINT', () => consumer.disconnect()) // Ctrl-C
await consumer.connect()
await consumer.subscribe({ topics: ['${topic}'], fromBeginning: true })
await consumer.run({
  // An event counts as read once this has ended well; where it throws, the event comes again.
  eachMessage: async ({ message }) => {
    if (!message.value) return // null: the record of this key is gone
    const event: ${event} = await registry.decode(message.value)
    console.log(String(message.key), event)
  },
})
`

const python = ({ topic, group, addresses }: Wanted): string => `\
# pip install 'confluent-kafka[avro,schemaregistry]'
from confluent_kafka import Consumer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer

deserialize = AvroDeserializer(SchemaRegistryClient({'url': '${addresses.registry}'}))
consumer = Consumer({
    'bootstrap.servers': '${addresses.brokers}', 'group.id': '${group}', 'auto.offset.reset': 'earliest',
    'enable.auto.offset.store': False})  # an event counts as read once store_offsets has been called for it
consumer.subscribe(['${topic}'])
try:
    while True:
        message = consumer.poll(1)
        if message is None:
            continue
        if message.error():  # no such topic, no right to read it; while Kafka is away, poll just waits
            print(message.error())
            continue
        if message.value() is not None:  # None: the record of this key is gone
            print(message.key().decode(), deserialize(message.value(), None))
        consumer.store_offsets(message)
except KeyboardInterrupt:  # Ctrl-C
    pass
finally:
    consumer.close()  # commits what is stored
`

// Confluent's deserializer for Java is not on Maven Central. What it does is short enough to stand here.
const java = ({ topic, group, addresses }: Wanted): string => `\
// Two packages of Maven Central, with what they depend on: org.apache.kafka:kafka-clients and org.apache.avro:avro
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.*;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.*;
import org.apache.avro.Schema;
import org.apache.avro.generic.*;
import org.apache.avro.io.DecoderFactory;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.*;

public class Subscription {
  static final String REGISTRY = "${addresses.registry}";
  static final Map<Integer, Schema> schemas = new HashMap<>();

  public static void main(String[] args) throws Exception {
    Map<String, Object> settings = Map.of(
        "bootstrap.servers", "${addresses.brokers}", "group.id", "${group}",
        "auto.offset.reset", "earliest", "enable.auto.commit", false);
    var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer());
    var main = Thread.currentThread();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> { // Ctrl-C
      consumer.wakeup();
      try { main.join(); } catch (InterruptedException ended) { }
    }));
    try (consumer) {
      consumer.subscribe(List.of("${topic}"));
      while (true) {
        for (var message : consumer.poll(Duration.ofSeconds(1)))
          if (message.value() != null) // null: the record of this key is gone
            System.out.println(message.key() + " " + decode(message.value()));
        consumer.commitSync(); // all that was printed counts as read
      }
    } catch (WakeupException stopped) { }
  }

  /** A value is a zero, the number of its schema in the registry in 4 bytes, and Avro. */
  static GenericRecord decode(byte[] value) throws Exception {
    int id = ByteBuffer.wrap(value).getInt(1);
    if (!schemas.containsKey(id)) schemas.put(id, fetch(id));
    var reader = new GenericDatumReader<GenericRecord>(schemas.get(id));
    return reader.read(null, DecoderFactory.get().binaryDecoder(value, 5, value.length - 5, null));
  }

  static Schema fetch(int id) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(REGISTRY + "/schemas/ids/" + id)).build();
    var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 200) throw new IllegalStateException("the registry answered " + answer.body());
    return new Schema.Parser().parse(new ObjectMapper().readTree(answer.body()).get("schema").asText());
  }
}
`

const quotedList = (brokers: string): string =>
  brokers
    .split(',')
    .map((broker) => `'${broker}'`)
    .join(', ')
