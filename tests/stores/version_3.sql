BEGIN TRANSACTION;
CREATE TABLE bindings (
	chatbot_id TEXT NOT NULL, 
	channel_id TEXT NOT NULL, 
	session_id TEXT NOT NULL, 
	PRIMARY KEY (chatbot_id, channel_id)
);
INSERT INTO "bindings" VALUES('discord','room','01a22e7c-63c0-7111-9ddf-1c2c3eef2403');
CREATE TABLE deliveries (
	seq INTEGER NOT NULL, 
	message_id TEXT NOT NULL, 
	purpose TEXT NOT NULL, 
	part INTEGER NOT NULL, 
	chatbot_id TEXT NOT NULL, 
	channel_id TEXT NOT NULL, 
	body TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	send_key TEXT NOT NULL, 
	state TEXT NOT NULL, 
	attempts INTEGER NOT NULL, 
	first_sent_at INTEGER, 
	next_attempt_at INTEGER, 
	platform_ids TEXT NOT NULL, 
	error TEXT, 
	PRIMARY KEY (seq), 
	UNIQUE (message_id, purpose, part), 
	FOREIGN KEY(message_id) REFERENCES messages (id) ON DELETE CASCADE
);
INSERT INTO "deliveries" VALUES(1,'01a22e7c-63d9-73d8-b49b-29ca045fc939','final',0,'discord','room','{}','hash of {}','01a22e7c-63d9-73d8-b49b-29ca045fc939/0','planned',0,NULL,NULL,'[]',NULL);
CREATE TABLE events (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	at INTEGER NOT NULL, 
	message_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	"before" TEXT, 
	"after" TEXT, 
	actor TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	CONSTRAINT kind CHECK (kind IN ('inserted', 'moved', 'replaced')), 
	FOREIGN KEY(message_id) REFERENCES messages (id) ON DELETE CASCADE
);
INSERT INTO "events" VALUES(1,1767225600000000,'01a22e7c-63bd-73bd-84d3-1cb329a6e66f','inserted',NULL,'pending_agent','','');
INSERT INTO "events" VALUES(2,1767225600000000,'01a22e7c-63bd-73bd-84d3-1cb329a6e66f','moved','pending_agent','processing','w1','claim');
INSERT INTO "events" VALUES(3,1767225600000000,'01a22e7c-63d1-7334-add9-655df24f5774','inserted',NULL,'responded','','');
INSERT INTO "events" VALUES(4,1767225600000000,'01a22e7c-63d1-7334-add9-655e18d96526','inserted',NULL,'responded','','');
INSERT INTO "events" VALUES(5,1767225600000000,'01a22e7c-63d5-765a-ab3f-1b0013724e23','inserted',NULL,'responded','','');
INSERT INTO "events" VALUES(6,1767225600000000,'01a22e7c-63d1-7334-add9-655e18d96526','replaced',NULL,NULL,'w1','');
INSERT INTO "events" VALUES(7,1767225600000000,'01a22e7c-63bd-73bd-84d3-1cb329a6e66f','moved','processing','processed','w1','finish');
INSERT INTO "events" VALUES(8,1767225600000000,'01a22e7c-63d9-73d8-b49b-29ca045fc939','inserted',NULL,'pending','','');
INSERT INTO "events" VALUES(9,1767225600000000,'01a22e7c-63df-775b-a82c-d3e597d30861','inserted',NULL,'pending_agent','','');
CREATE TABLE external_ids (
	chatbot_id TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	message_id TEXT, 
	PRIMARY KEY (chatbot_id, "key"), 
	FOREIGN KEY(message_id) REFERENCES messages (id) ON DELETE SET NULL
);
CREATE TABLE leases (
	session_id TEXT NOT NULL, 
	message_id TEXT, 
	owner TEXT, 
	generation INTEGER NOT NULL, 
	failures INTEGER NOT NULL, 
	claimed_at INTEGER NOT NULL, 
	lease_until INTEGER NOT NULL, 
	PRIMARY KEY (session_id)
);
INSERT INTO "leases" VALUES('01a22e7c-63c0-7111-9ddf-1c2c3eef2403','01a22e7c-63bd-73bd-84d3-1cb329a6e66f',NULL,1,0,1767225600000000,0);
CREATE TABLE message_versions (
	id TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY (id, version), 
	FOREIGN KEY(id) REFERENCES messages (id) ON DELETE CASCADE
);
INSERT INTO "message_versions" VALUES('01a22e7c-63d1-7334-add9-655e18d96526',1,'{"id":"01a22e7c-63d1-7334-add9-655e18d96526","created_at":1796076233.681735,"kind":"tool_call","role":"tool","type":"tool_call","content":{"tool":"look"},"source":{"kind":"model","provider":"scripted","model":"m","replay_state":{"signature":"dA=="}},"sender":"unset","recipient":"unset","channel":null,"author":"Kesoku","metadata":{},"version":1}');
CREATE TABLE messages (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	id TEXT NOT NULL, 
	session_id TEXT NOT NULL, 
	session_n INTEGER NOT NULL, 
	parent_id TEXT, 
	turn_id TEXT, 
	round INTEGER NOT NULL, 
	chatbot_id TEXT NOT NULL, 
	channel_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	role TEXT NOT NULL, 
	type TEXT NOT NULL, 
	status TEXT NOT NULL, 
	mode TEXT NOT NULL, 
	author TEXT NOT NULL, 
	author_id TEXT, 
	sender TEXT, 
	recipient TEXT, 
	mail_channel TEXT, 
	source TEXT NOT NULL, 
	source_kind TEXT NOT NULL, 
	content TEXT NOT NULL, 
	metadata TEXT, 
	version INTEGER NOT NULL, 
	superseded_turn TEXT, 
	superseded_by TEXT, 
	response_id TEXT, 
	created_at INTEGER NOT NULL, 
	accepted_at INTEGER, 
	UNIQUE (session_id, session_n), 
	CONSTRAINT status_of_role CHECK (role = 'user' AND status IN ('error', 'interrupted', 'pending_agent', 'processed', 'processing') OR role = 'system' AND status IN ('delivered', 'error', 'interrupted', 'pending_agent', 'processed', 'processing', 'responded') OR role = 'assistant' AND status IN ('delivered', 'error', 'pending', 'responded') OR role = 'tool' AND status IN ('delivered', 'interrupted', 'responded')), 
	CONSTRAINT type CHECK (type IN ('text', 'thought', 'tool_call', 'tool_result')), 
	UNIQUE (id)
);
INSERT INTO "messages" VALUES(1,'01a22e7c-63bd-73bd-84d3-1cb329a6e66f','01a22e7c-63c0-7111-9ddf-1c2c3eef2403',1,NULL,'01a22e7c-63bd-73bd-84d3-1cb329a6e66f',0,'discord','room','user_prompt','user','text','processed','followup','Ada','id-Ada','unset','unset',NULL,'{"kind":"user","user_id":"id-Ada"}','user','{"text":"look around"}',NULL,1,NULL,NULL,NULL,1796076233661246,1767225600000000);
INSERT INTO "messages" VALUES(2,'01a22e7c-63d1-7334-add9-655df24f5774','01a22e7c-63c0-7111-9ddf-1c2c3eef2403',2,'01a22e7c-63bd-73bd-84d3-1cb329a6e66f','01a22e7c-63bd-73bd-84d3-1cb329a6e66f',1,'discord','room','thought','assistant','thought','responded','followup','Kesoku',NULL,'unset','unset',NULL,'{"kind":"model","provider":"scripted","model":"m"}','model','{"text":"hm"}',NULL,1,NULL,NULL,NULL,1796076233681685,NULL);
INSERT INTO "messages" VALUES(3,'01a22e7c-63d1-7334-add9-655e18d96526','01a22e7c-63c0-7111-9ddf-1c2c3eef2403',3,'01a22e7c-63bd-73bd-84d3-1cb329a6e66f','01a22e7c-63bd-73bd-84d3-1cb329a6e66f',1,'discord','room','tool_call','tool','tool_call','responded','followup','Kesoku',NULL,'unset','unset',NULL,'{"kind":"model","provider":"scripted","model":"m","replay_state":{"signature":"dA=="}}','model','{"tool":"look","response_id":"01a22e7c-63d5-765a-ab3f-1b0013724e23"}',NULL,2,NULL,NULL,'01a22e7c-63d5-765a-ab3f-1b0013724e23',1796076233681735,NULL);
INSERT INTO "messages" VALUES(4,'01a22e7c-63d5-765a-ab3f-1b0013724e23','01a22e7c-63c0-7111-9ddf-1c2c3eef2403',4,'01a22e7c-63d1-7334-add9-655e18d96526','01a22e7c-63bd-73bd-84d3-1cb329a6e66f',1,'discord','room','tool_result','tool','tool_result','responded','followup','look',NULL,'unset','unset',NULL,'{"kind":"tool","call_id":"01a22e7c-63d1-7334-add9-655e18d96526"}','tool','{"tool":"look","output":"nothing new ?","summary":"nothing new ?","request_id":"01a22e7c-63d1-7334-add9-655e18d96526"}',NULL,1,NULL,NULL,NULL,1796076233685499,NULL);
INSERT INTO "messages" VALUES(5,'01a22e7c-63d9-73d8-b49b-29ca045fc939','01a22e7c-63c0-7111-9ddf-1c2c3eef2403',5,'01a22e7c-63bd-73bd-84d3-1cb329a6e66f','01a22e7c-63bd-73bd-84d3-1cb329a6e66f',2,'discord','room','answer','assistant','text','pending','followup','Kesoku',NULL,'unset','unset',NULL,'{"kind":"model","provider":"scripted","model":"m"}','model','{"text":"It is 東京."}',NULL,1,NULL,NULL,NULL,1796076233689368,NULL);
INSERT INTO "messages" VALUES(6,'01a22e7c-63df-775b-a82c-d3e597d30861','01a22e7c-63c0-7111-9ddf-1c2c3eef2403',6,NULL,'01a22e7c-63df-775b-a82c-d3e597d30861',0,'discord','room','user_prompt','user','text','pending_agent','followup','Ada','id-Ada','unset','unset',NULL,'{"kind":"user","user_id":"id-Ada"}','user','{"text":"and then?"}',NULL,1,NULL,NULL,NULL,1796076233695198,1767225600000000);
CREATE TABLE questions (
	seq INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	turn_id TEXT NOT NULL, 
	chatbot_id TEXT NOT NULL, 
	channel_id TEXT NOT NULL, 
	question TEXT NOT NULL, 
	purpose TEXT NOT NULL, 
	who TEXT NOT NULL, 
	answer TEXT, 
	answered_by TEXT, 
	answered_at INTEGER, 
	PRIMARY KEY (seq), 
	UNIQUE (id)
);
CREATE TABLE queues (chatbot_id TEXT NOT NULL, length INTEGER NOT NULL, PRIMARY KEY (chatbot_id));
INSERT INTO "queues" VALUES('discord',1);
CREATE TABLE sessions (
	id TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	title TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	ended_at INTEGER, 
	last_n INTEGER DEFAULT 0 NOT NULL, 
	last_seq INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "sessions" VALUES('01a22e7c-63c0-7111-9ddf-1c2c3eef2403','b70aa017-192e-4737-a66e-77afb5cafd8d','',1767225600000000,NULL,6,6);
CREATE TABLE state (
	scope TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (scope, "key")
);
INSERT INTO "state" VALUES('s','k','{"a":1}');
CREATE TABLE steps (
	turn_id TEXT NOT NULL, 
	n INTEGER NOT NULL, 
	request TEXT NOT NULL, 
	reply TEXT NOT NULL, 
	usage TEXT NOT NULL, 
	at INTEGER NOT NULL, model TEXT DEFAULT '' NOT NULL, cost INTEGER, 
	PRIMARY KEY (turn_id, n)
);
INSERT INTO "steps" VALUES('01a22e7c-63bd-73bd-84d3-1cb329a6e66f',1,'{"sources":[["01a22e7c-63bd-73bd-84d3-1cb329a6e66f",1]],"digest":"3f41a254e44c49954edfa33e8c01f6d1d52a265a5f4b5837b53d9a8cd2088216"}','{"provider":"scripted","model":"m","finish":"stop","blocks":[{"text":"hm","thought":true,"signature":"cw=="},{"call_id":"01a22e7c-63d1-7334-add9-655e18d96526","name":"look","arguments":{},"signature":"dA=="}]}','{"prompt":100,"cached":40,"thoughts":3,"answer":10}',1767225600000000,'',NULL);
INSERT INTO "steps" VALUES('01a22e7c-63bd-73bd-84d3-1cb329a6e66f',2,'{"sources":[["01a22e7c-63bd-73bd-84d3-1cb329a6e66f",1],["01a22e7c-63d1-7334-add9-655df24f5774",1],["01a22e7c-63d1-7334-add9-655e18d96526",2],["01a22e7c-63d5-765a-ab3f-1b0013724e23",1]],"digest":"2e78e28100389f3e56f0b92f7ef1824ea34de044c1ef94cb65aa9e0a7625a475"}','{"provider":"scripted","model":"m","finish":"stop","blocks":[{"text":"It is 東京."}]}','{"prompt":150,"cached":0,"thoughts":0,"answer":5}',1767225600000000,'',NULL);
CREATE TABLE turns (
	turn_id TEXT NOT NULL, 
	session_id TEXT, 
	prompt_ids TEXT NOT NULL, 
	metrics TEXT, failures INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (turn_id)
);
INSERT INTO "turns" VALUES('01a22e7c-63bd-73bd-84d3-1cb329a6e66f','01a22e7c-63c0-7111-9ddf-1c2c3eef2403','["01a22e7c-63bd-73bd-84d3-1cb329a6e66f"]','{"session_turns":1,"context_tokens":150,"turn_tool_calls":1,"turn_tokens":18,"turn_time":0.0}',0);
CREATE INDEX bindings_of_session ON bindings (session_id);
CREATE INDEX messages_accepted_in_channel ON messages (chatbot_id, channel_id, accepted_at) WHERE accepted_at IS NOT NULL;
CREATE INDEX messages_accepted_of_author ON messages (chatbot_id, author_id, accepted_at) WHERE accepted_at IS NOT NULL AND author_id IS NOT NULL;
CREATE UNIQUE INDEX messages_final_answer ON messages (turn_id) WHERE kind = 'answer' AND source_kind = 'model';
CREATE UNIQUE INDEX messages_live_result ON messages (parent_id) WHERE kind = 'tool_result' AND superseded_by IS NULL;
CREATE INDEX messages_of_turn ON messages (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX messages_open_call ON messages (session_id, session_n) WHERE kind = 'tool_call' AND response_id IS NULL;
CREATE INDEX messages_pending ON messages (chatbot_id, channel_id) WHERE status = 'pending';
CREATE INDEX messages_processing ON messages (status) WHERE status = 'processing';
CREATE INDEX messages_queued_for_bot ON messages (chatbot_id) WHERE status = 'pending_agent';
CREATE INDEX messages_queued_in_channel ON messages (chatbot_id, channel_id) WHERE status = 'pending_agent';
CREATE INDEX messages_queued_in_session ON messages (session_id, chatbot_id) WHERE status = 'pending_agent';
CREATE INDEX messages_queued_replacing ON messages (session_id) WHERE status = 'pending_agent' AND superseded_turn IS NOT NULL;
CREATE INDEX messages_queued_riders ON messages (session_id) WHERE status = 'pending_agent' AND mode <> 'followup';
CREATE INDEX messages_unseen ON messages (chatbot_id, channel_id) WHERE status = 'responded' AND type <> 'text';
CREATE INDEX questions_open ON questions (chatbot_id, channel_id) WHERE answer IS NULL;
CREATE INDEX turns_finished ON turns (session_id) WHERE metrics IS NOT NULL;
CREATE INDEX deliveries_ambiguous ON deliveries (chatbot_id, channel_id) WHERE state = 'ambiguous' AND purpose = 'final';
CREATE INDEX deliveries_held ON deliveries (chatbot_id, channel_id) WHERE state = 'held' AND purpose = 'final';
CREATE INDEX deliveries_live ON deliveries (chatbot_id, channel_id) WHERE purpose = 'live';
CREATE INDEX deliveries_planned ON deliveries (chatbot_id, channel_id) WHERE state = 'planned' AND purpose = 'final';
CREATE INDEX deliveries_sending ON deliveries (chatbot_id, channel_id) WHERE state = 'sending' AND purpose = 'final';
CREATE INDEX events_of_message ON events (message_id);
CREATE INDEX external_ids_of_message ON external_ids (message_id);
CREATE INDEX steps_paid ON steps (at, cost) WHERE cost IS NOT NULL;
CREATE INDEX turns_of_session ON turns (session_id);
CREATE INDEX leases_held ON leases (owner, failures) WHERE owner IS NOT NULL;
CREATE TRIGGER queues_enter AFTER INSERT ON messages WHEN NEW.status = 'pending_agent' BEGIN INSERT INTO queues VALUES (NEW.chatbot_id, 1) ON CONFLICT DO UPDATE SET length = length + 1; END;
CREATE TRIGGER queues_return AFTER UPDATE OF status ON messages WHEN NEW.status = 'pending_agent' AND NOT OLD.status = 'pending_agent' BEGIN INSERT INTO queues VALUES (NEW.chatbot_id, 1) ON CONFLICT DO UPDATE SET length = length + 1; END;
CREATE TRIGGER queues_leave AFTER UPDATE OF status ON messages WHEN OLD.status = 'pending_agent' AND NOT NEW.status = 'pending_agent' BEGIN INSERT INTO queues VALUES (OLD.chatbot_id, -1) ON CONFLICT DO UPDATE SET length = length + -1; END;
CREATE TRIGGER queues_forget AFTER DELETE ON messages WHEN OLD.status = 'pending_agent' BEGIN INSERT INTO queues VALUES (OLD.chatbot_id, -1) ON CONFLICT DO UPDATE SET length = length + -1; END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('messages',6);
INSERT INTO "sqlite_sequence" VALUES('events',9);
COMMIT;
